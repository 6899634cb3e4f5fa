// The figure: two columns of pieces, lines between them, and what isolates a piece.

const ROW = 26; // pixels, as in the style sheet
const FAINTEST = 3; // of 255: lighter lines cannot be seen
const LEVELS = 32; // of opacity, while all lines are drawn
const SVG = "http://www.w3.org/2000/svg";
const lines = document.getElementById("lines");
const columns = { queries: document.getElementById("queries"), keys: document.getElementById("keys") };
// Which piece is isolated, {side, place}: under the pointer, else that of the keyboard,
// else the one that was picked.
const isolating = { pointer: null, keyboard: null, picked: null };

function styleOf(head) {
  const { colours, dashes } = data;
  return `c${head % colours} d${Math.floor(head / colours) % dashes}`;
}

/** y of the end of a line; the heads lie side by side. */
function height(place, slot, count) {
  const shift = (slot - (count - 1) / 2) * Math.min(3, 18 / count);
  return (place + 0.5) * ROW + shift;
}

function addPath(group, head, d, opacity, ends = {}) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", styleOf(head));
  path.setAttribute("d", d);
  path.setAttribute("stroke-opacity", opacity);
  for (const [name, value] of Object.entries({ head, ...ends })) path.dataset[name] = value;
  group.append(path);
}

/** Width of the squares that tell the weights of the heads beside a piece; where there
 * is room for the squares of many heads or for the pieces, it is for the pieces. */
function squares() {
  const count = shownHeads().length;
  if (count > 8 && window.innerWidth < 640) return 0;
  return count * (count > 8 ? 3 : 7) + 4;
}

/** Where lines begin and end: at the pieces, or on one side at their squares. */
function edges(side) {
  const width = lines.clientWidth;
  return [side === "queries" ? squares() : 0, side === "keys" ? width - squares() : width];
}

function line([left, right], query, key, slot, count) {
  return `M${left},${height(query, slot, count)}L${right},${height(key, slot, count)}`;
}

/** Draws all lines: one path for each head and each level of opacity. Paths that long
 * take seconds to draw with dashes, so these have none. */
function drawAll() {
  const weight = weightsOfLayer();
  const { queries, keys } = pieces();
  const group = document.getElementById("all");
  group.replaceChildren();
  const [heads, ends] = [shownHeads(), edges()];
  heads.forEach((head, slot) => {
    const levels = Array.from({ length: LEVELS + 1 }, () => []);
    for (let query = 0; query < queries.length; query++) {
      for (let key = 0; key < keys.length; key++) {
        const value = weight(head, query, key);
        if (value < FAINTEST) continue;
        const level = Math.max(1, Math.round((value / 255) * LEVELS));
        levels[level].push(line(ends, query, key, slot, heads.length));
      }
    }
    levels.forEach((found, level) => {
      if (found.length) addPath(group, head, found.join(""), level / LEVELS);
    });
  });
}

/** Draws the lines of the piece that is isolated, and of no other. */
function drawIsolated() {
  const at = isolating.pointer ?? isolating.keyboard ?? isolating.picked;
  const group = document.getElementById("one");
  group.replaceChildren();
  lines.classList.toggle("isolating", at !== null);
  for (const side of Object.keys(columns)) {
    [...columns[side].children].forEach((option, place) => {
      option.classList.toggle("isolated", at?.side === side && at.place === place);
      for (const bar of option.querySelectorAll("i")) bar.style.opacity = 0;
    });
  }
  say(at ? told(at.side, at.place) : rest());
  if (at) drawPiece(group, at);
}

function drawPiece(group, { side, place }) {
  const weight = weightsOfLayer();
  const other = side === "queries" ? "keys" : "queries";
  const [heads, ends] = [shownHeads(), edges(other)];
  heads.forEach((head, slot) => {
    [...columns[other].children].forEach((option, end) => {
      const [query, key] = side === "queries" ? [place, end] : [end, place];
      const value = weight(head, query, key);
      if (value < FAINTEST) return;
      const opacity = (value / 255).toFixed(3);
      addPath(group, head, line(ends, query, key, slot, heads.length), opacity, { query, key });
      option.querySelectorAll("i")[slot].style.opacity = opacity;
    });
  });
}

function rest() {
  return shownHeads().length
    ? "Point at a piece, or go to it with Tab and the arrow keys, to see its lines alone. Enter or a click keeps them; Escape lets them go."
    : "No head is switched on.";
}

function say(text) {
  const status = document.getElementById("status");
  if (status.textContent !== text) status.textContent = text;
}

function makeRoom() {
  const figure = document.getElementById("figure");
  figure.classList.toggle("many", shownHeads().length > 8);
  figure.style.setProperty("--squares", `${squares()}px`);
}

/** Builds both columns anew. */
function drawColumns() {
  const all = pieces();
  for (const [side, column] of Object.entries(columns)) {
    column.replaceChildren(...all[side].map((piece, place) => makeOption(side, piece, place)));
    column.firstElementChild.tabIndex = 0;
  }
  const rows = Math.max(all.queries.length, all.keys.length);
  lines.style.height = `${rows * ROW}px`;
}

function makeOption(side, piece, place) {
  const option = document.createElement("div");
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.setAttribute("aria-label", spoken(piece));
  option.tabIndex = -1;
  option.dataset.side = side;
  option.dataset.place = place;
  const bars = document.createElement("span");
  bars.className = "bars";
  bars.setAttribute("aria-hidden", "true");
  for (const head of shownHeads()) {
    const bar = document.createElement("i");
    bar.className = styleOf(head);
    bars.append(bar);
  }
  const name = document.createElement("span");
  name.className = data.special.includes(piece) ? "piece special" : "piece";
  name.dir = "auto";
  const mark = piece.match(/^(##(?=.)|\u2581)/u)?.[0] ?? "";
  if (mark) {
    const span = document.createElement("span");
    span.className = "mark";
    span.textContent = mark;
    name.append(span);
  }
  name.append(piece.slice(mark.length));
  option.append(bars, name);
  return option;
}

function placeOf(option) {
  return { side: option.dataset.side, place: Number(option.dataset.place) };
}

/** Picks a piece, whose lines then stay; picks nothing if it was picked before. */
function pick(option) {
  const was = option?.getAttribute("aria-selected") === "true";
  for (const each of document.querySelectorAll('[role="option"][aria-selected="true"]')) {
    each.setAttribute("aria-selected", "false");
  }
  if (option && !was) option.setAttribute("aria-selected", "true");
  isolating.picked = option && !was ? placeOf(option) : null;
  drawIsolated();
}

/** Moves the focus to a piece; each column is one stop of Tab. */
function moveTo(side, place) {
  const options = [...columns[side].children];
  const option = options[Math.min(Math.max(place, 0), options.length - 1)];
  for (const each of options) each.tabIndex = each === option ? 0 : -1;
  option.focus();
}

function pressed(event) {
  const option = event.target.closest('[role="option"]');
  if (!option || event.ctrlKey || event.altKey || event.metaKey) return;
  const { side, place } = placeOf(option);
  const moves = {
    ArrowDown: [side, place + 1],
    ArrowUp: [side, place - 1],
    Home: [side, 0],
    End: [side, Infinity],
    PageDown: [side, place + 10],
    PageUp: [side, place - 10],
    ArrowRight: ["keys", place],
    ArrowLeft: ["queries", place],
  };
  if (event.key in moves) moveTo(...moves[event.key]);
  else if (event.key === "Enter" || event.key === " ") pick(option);
  else return;
  event.preventDefault();
}

for (const column of Object.values(columns)) {
  column.addEventListener("pointerover", (event) => {
    const option = event.target.closest('[role="option"]');
    if (!option || event.pointerType === "touch") return;
    isolating.pointer = placeOf(option);
    drawIsolated();
  });
  column.addEventListener("pointerleave", () => {
    isolating.pointer = null;
    drawIsolated();
  });
  column.addEventListener("focusin", (event) => {
    const { side, place } = placeOf(event.target);
    for (const each of columns[side].children) each.tabIndex = -1;
    event.target.tabIndex = 0;
    // A click gives the focus too; what is isolated then is what was picked.
    isolating.keyboard = event.target.matches(":focus-visible") ? { side, place } : null;
    drawIsolated();
  });
  column.addEventListener("focusout", () => {
    isolating.keyboard = null;
    drawIsolated();
  });
  column.addEventListener("click", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option) pick(option);
  });
  column.addEventListener("keydown", pressed);
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") pick(null);
});
window.addEventListener("resize", () => {
  makeRoom();
  drawAll();
  drawIsolated();
});
