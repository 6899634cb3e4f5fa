"use strict";
// What is shown: the data of the page, and what is chosen of it.

const data = JSON.parse(document.getElementById("data").textContent);
const state = {
  sentence: 0,
  kind: 0,
  layer: data.layers - 1,
  heads: Array.from({ length: data.heads }, () => true),
};
const decoded = new Map();

/** The weights of the sentence and kind that are chosen, 0 to 255: N, H, Q, M. */
function chosenWeights() {
  const key = `${state.sentence}/${state.kind}`;
  if (!decoded.has(key)) {
    const text = atob(data.sentences[state.sentence].weights[state.kind]);
    decoded.set(key, Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
  }
  return decoded.get(key);
}

function pieces() {
  const sentence = data.sentences[state.sentence];
  const { queries, keys } = data.kinds[state.kind];
  return { queries: sentence[queries], keys: sentence[keys] };
}

/** A function (head, query, key) -> weight from 0 to 255, in the layer chosen. */
function weightsOfLayer() {
  const all = chosenWeights();
  const { queries, keys } = pieces();
  const size = queries.length * keys.length;
  const first = state.layer * data.heads * size;
  return (head, query, key) => all[first + head * size + query * keys.length + key];
}

function shownHeads() {
  return state.heads.flatMap((shown, head) => (shown ? [head] : []));
}

/** [[place on the other side, weight]] of one piece for some heads, heaviest first. */
function strongest(side, place, heads) {
  const weight = weightsOfLayer();
  const others = pieces()[side === "queries" ? "keys" : "queries"];
  return others
    .map((_, other) => {
      const pair = side === "queries" ? [place, other] : [other, place];
      const sum = heads.reduce((total, head) => total + weight(head, ...pair), 0);
      return [other, sum / Math.max(1, heads.length)];
    })
    .sort((one, two) => two[1] - one[1]);
}

function percent(weight) {
  return `${Math.round(weight / 2.55)} %`;
}

/** A piece as it is read aloud: without the marks of words. */
function spoken(piece) {
  return piece.replace(/^(##(?=.)|\u2581)/u, "") || "space";
}

/** What the weights of one piece say, in words. */
function told(side, place) {
  const all = pieces();
  const other = side === "queries" ? "keys" : "queries";
  const heads = shownHeads();
  const quoted = (piece) => `“\u2068${spoken(piece)}\u2069”`;
  const list = (found) =>
    found.map(([at, weight]) => `${quoted(all[other][at])} ${percent(weight)}`).join(", ");
  const verb = side === "queries" ? "attends to" : "is attended to by";
  let text = `${quoted(all[side][place])}, ${place + 1} of ${all[side].length}${written(side, place)}, `;
  if (!heads.length) return `${text}: no head is switched on.`;
  const [first, ...rest] = strongest(side, place, heads).filter(([, w]) => w >= 1).slice(0, 3);
  if (!first) return `${text}${verb} nothing in these heads.`;
  const mean = heads.length > 1 ? ` in the mean of ${heads.length} heads` : ` in head ${heads[0] + 1}`;
  text += `${verb} ${list([first, ...rest])}${mean}.`;
  if (heads.length > 1 && heads.length <= 8) {
    const each = heads.map((head) => `${head + 1}: ${list(strongest(side, place, [head]).slice(0, 1))}`);
    text += ` Heads: ${each.join("; ")}.`;
  }
  return text;
}

/** Of a position of the decoder: the other one of what it reads and what it writes. */
function written(side, place) {
  const sentence = data.sentences[state.sentence];
  const name = data.kinds[state.kind][side];
  if (name === "target") return ` (then “\u2068${spoken(sentence.written[place])}\u2069” is written)`;
  if (name === "written") return ` (after “\u2068${spoken(sentence.target[place])}\u2069” was read)`;
  return "";
}
