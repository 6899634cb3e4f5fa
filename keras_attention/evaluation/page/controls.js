// What chooses: sentence, kind of attention, layer, heads; and the table of numbers.

const choosers = ["sentence", "kind", "layer"].map((name) => document.getElementById(name));
const numbers = document.getElementById("numbers");

function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name, value) => new Option(name, value)));
  select.value = chosen;
}

function brief(text) {
  const signs = [...text];
  return signs.length > 80 ? `${signs.slice(0, 79).join("")}…` : text;
}

/** Shows everything anew after another sentence, kind or layer was chosen. */
function show() {
  for (const key of Object.keys(isolating)) isolating[key] = null;
  const sentence = data.sentences[state.sentence];
  document.getElementById("source").textContent = sentence.text;
  document.getElementById("target").textContent = sentence.translation || "(nothing)";
  document.getElementById("of").textContent = sentence.forced ? "Given translation" : "Translation";
  document.getElementById("cut").hidden = !sentence.truncated;
  document.getElementById("from").textContent = data.kinds[state.kind].from;
  document.getElementById("to").textContent = data.kinds[state.kind].to;
  showHeads();
}

/** Shows everything anew after heads were switched. */
function showHeads() {
  makeRoom();
  isolating.picked = null;
  drawColumns();
  drawAll();
  drawIsolated();
  if (numbers.open) fillTable();
}

function cell(tag, text, scope) {
  const made = document.createElement(tag);
  if (scope) made.scope = scope;
  const isolated = document.createElement("bdi");
  isolated.textContent = text;
  made.append(isolated);
  return made;
}

/** The strongest weight of every piece and head, in words. */
function fillTable() {
  const heads = shownHeads();
  const { queries, keys } = pieces();
  const row = (cells) => {
    const made = document.createElement("tr");
    made.append(...cells);
    return made;
  };
  const found = (query, some) => {
    const [[key, weight]] = strongest("queries", query, some);
    return cell("td", `${keys[key]} ${percent(weight)}`);
  };
  const table = document.createElement("table");
  table.createCaption().textContent =
    `${data.kinds[state.kind].name}, layer ${state.layer + 1}: what each piece attends to most`;
  table.createTHead().append(row(["Piece", "Mean", ...heads.map((head) => `Head ${head + 1}`)]
    .map((name) => cell("th", name, "col"))));
  table.createTBody().append(...queries.map((piece, query) => row([
    cell("th", piece, "row"),
    ...(heads.length ? [heads, ...heads.map((head) => [head])].map((some) => found(query, some)) : []),
  ])));
  document.getElementById("table").replaceChildren(table);
}

function makeHead(head) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = true;
  box.setAttribute("aria-label", `Head ${head + 1}`);
  box.addEventListener("change", () => {
    state.heads[head] = box.checked;
    showHeads();
  });
  const sample = document.createElementNS(SVG, "svg");
  sample.setAttribute("viewBox", "0 0 24 12");
  sample.setAttribute("aria-hidden", "true");
  addPath(sample, head, "M0,6L24,6", 1);
  label.append(box, sample, `${head + 1}`);
  return label;
}

function switchHeads(test) {
  state.heads = state.heads.map((_, head) => test(head));
  document.querySelectorAll("#heads input").forEach((box, head) => {
    box.checked = state.heads[head];
  });
  showHeads();
}

/** Makes the name of a head in the report a button that shows it alone. */
function makeButton(header) {
  const { kind, layer, head } = header.dataset;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = header.textContent;
  button.setAttribute("aria-label", `Show layer ${layer}, head ${head} alone`);
  button.addEventListener("click", () => {
    state.kind = data.kinds.findIndex(({ id }) => id === kind);
    state.layer = layer - 1;
    choosers.forEach((select) => (select.value = state[select.id]));
    show();
    switchHeads((each) => each === head - 1);
    document.getElementById("kind").focus();
    document.getElementById("status").scrollIntoView();
  });
  header.replaceChildren(button);
}

function begin() {
  const [sentence, kind, layer] = choosers;
  fill(sentence, data.sentences.map(({ text }, n) => `${n + 1}. ${brief(text) || "(nothing)"}`), state.sentence);
  fill(kind, data.kinds.map(({ name }) => name), state.kind);
  fill(layer, Array.from({ length: data.layers }, (_, n) => `${n + 1} of ${data.layers}`), state.layer);
  for (const select of choosers) {
    select.addEventListener("change", () => {
      state[select.id] = Number(select.value);
      show();
    });
  }
  const boxes = Array.from({ length: data.heads }, (_, head) => makeHead(head));
  document.getElementById("heads").prepend(...boxes);
  document.getElementById("every").addEventListener("click", () => switchHeads(() => true));
  document.getElementById("none").addEventListener("click", () => switchHeads(() => false));
  numbers.addEventListener("toggle", () => numbers.open && fillTable());
  document.querySelectorAll("th[data-head]").forEach(makeButton);
  document.getElementById("interactive").hidden = false;
  show();
}

begin();
