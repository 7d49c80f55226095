// What the study is, as Python wrote it into the page, and the words for its parts.
const study = JSON.parse(document.querySelector("script#study").textContent);
const ARRIVED = 1;
const READ = 2;
const FIRST = 4;
const RUNS = 8;
const VALUES = 16;
// `counted`: what metrics count, a list that was read or any choice that arrived
const BASES = new Map([
  ["counted", ARRIVED],
  ["all", ARRIVED],
  ["read", READ],
  ["first", FIRST],
  ["runs", RUNS],
  ["values", VALUES],
]);
const BASE_WORDS = new Map([
  ["counted", "that count: lists read, choices arrived"],
  ["all", "all that arrived"],
  ["read", "that could be read"],
  ["first", "first of each user to each question"],
  ["runs", "in scored runs"],
  ["values", "first with a value of each user to each scale or number"],
]);
const DOUBTS = new Map([
  ["unread", { bit: 1, label: "Not read", text: "No option or letter could be read." }],
  [
    "refused",
    { bit: 2, label: "Refused or filtered", text: "The model refused, or a filter stopped it." },
  ],
  ["truncated", { bit: 4, label: "Truncated", text: "The reply was cut off at its limit of tokens." }],
  [
    "merged",
    {
      bit: 8,
      label: "Merged by likeness",
      text: "An option got its name because it looks like another one.",
    },
  ],
  [
    "length",
    { bit: 16, label: "Odd length", text: "The reply is far longer or shorter than the others." },
  ],
  [
    "corrected",
    { bit: 32, label: "Corrected by a person", text: "A person's correction is already in the numbers." },
  ],
]);
const REASON_WORDS = new Map([
  ["refused", "The model refused to answer."],
  ["filtered by the provider", "The provider's filter stopped the reply."],
  ["empty", "The reply is empty, or holds only reasoning."],
  ["failed", "The call failed, so there is no reply."],
  ["no list found", "No list was found in the reply."],
  ["no letter found", "No letter was found in the reply."],
  ["ambiguous", "The reply names several letters."],
]);
const RULE_WORDS = new Map([
  ["override", "a person's correction"],
  ["alias", "the list of aliases"],
  ["exact", "equal spelling"],
  ["near", "likeness"],
]);
const OUTCOME_WORDS = new Map([["ok", "answered"]]);
const CONTEXTS_WITHHELD = new Map([
  ["ids", "The texts of contexts are withheld from this page. Only their ids are in it."],
  ["none", "Contexts are withheld from this page, with their texts and ids."],
]);

const places = (entries, name) => new Map(entries.map((entry, i) => [name ? entry[name] : entry, i]));
const modelPlaces = places(study.models, "name");
const conditionPlaces = places(study.conditions, "name");
const labelOf = (entry) => entry?.label || entry?.name || "";
const modelLabel = (i) => labelOf(study.models[i]);
const conditionLabel = (i) => labelOf(study.conditions[i]);
const baselinePlace = conditionPlaces.get(study.baseline) ?? 0;
const itemPlace = (task, id) => study.items.findIndex((item) => item.task === task && item.item === id);
// whose answer is one option of the question; other answers are options by name, a number one of them
const isLettered = (item) => item.kind === "choice" || item.kind === "scale";
const letterOf = (i) => String.fromCharCode(65 + i);
const letterPlace = (letter) => (/^[A-Z]$/.test(letter) ? letter.charCodeAt(0) - 65 : -2);
const choiceLabel = (item, i) => {
  if (i < 0) return "no letter";
  const text = item.choices?.[i];
  return text ? `${letterOf(i)}. ${text}` : letterOf(i);
};

const count = (n) => Number(n).toLocaleString("en-US");
const plural = (n, noun, nouns = `${noun}s`) => `${count(n)} ${n === 1 ? noun : nouns}`;
const percent = (part, whole) => {
  if (!whole) return "–";
  const value = (100 * part) / whole;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
};
const wellFormed = (text) => (text.toWellFormed ? text.toWellFormed() : text);
const cut = (text, length) => {
  if (text.length <= length) return text;
  return `${wellFormed(text.slice(0, length)).replace(/\uFFFD$/, "")}…`;
};
const oneLine = (text, length) =>
  cut(
    text
      .slice(0, 4 * length)
      .replace(/\s+/g, " ")
      .trim(),
    length,
  );
