// The tables beside the page: files of JavaScript literals, loaded by script elements, which work from a
// folder without a server.
const receivers = new Map();
Object.defineProperty(window, "fieldwork", {
  value: Object.freeze({ receive: (name, value) => receivers.get(name)?.(value) }),
});
const loadFile = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    let table;
    receivers.set(name, (value) => {
      table = value;
    });
    const finish = (text) => {
      receivers.delete(name);
      script.remove();
      if (table === undefined) reject(new Error(text));
      else resolve(table);
    };
    script.onload = () => finish(`The file data/${name}.js cannot be read. Write the page again.`);
    script.onerror = () =>
      finish(
        `The file data/${name}.js is missing. Keep the page in its folder, beside the folder “data”.`,
      );
    script.src = `data/${name}.js`;
    document.head.append(script);
  });

const KEPT_FILES = 30;
const files = new Map();
const keptFile = (name) => {
  const file = files.get(name) ?? loadFile(name);
  // the files used last are kept; one that failed is tried again
  files.delete(name);
  files.set(name, file);
  file.catch(() => files.delete(name));
  if (files.size > KEPT_FILES) files.delete(files.keys().next().value);
  return file;
};

let table = null;
const column = {};
const NUMBERS = [
  "model",
  "item",
  "condition",
  "puppet",
  "replicate",
  "outcome",
  "reason",
  "letter",
  "strict",
  "base",
  "doubt",
  "context",
  "length",
];
const takeAnswers = (answers) => {
  for (const name of NUMBERS) column[name] = new Int32Array(answers[name]);
  const size = column.model.length;
  // options of all rows after each other; those of a row are from its start to the next
  const starts = new Int32Array(size + 1);
  for (let i = 0; i < size; i += 1) starts[i + 1] = starts[i] + (answers.options[i]?.length ?? 0);
  const values = new Int32Array(starts[size]);
  for (let i = 0; i < size; i += 1) {
    const options = answers.options[i];
    if (options) for (let k = 0; k < options.length; k += 1) values[starts[i] + k] = options[k];
  }
  column.optionStarts = starts;
  column.optionValues = values;
  const { puppets, outcomes, reasons, names, contexts } = answers;
  table = {
    size,
    puppets,
    outcomes,
    reasons,
    names,
    contexts,
    puppetPlaces: places(puppets),
    namePlaces: places(names),
    outcomePlaces: places(outcomes),
    reasonPlaces: places(reasons),
  };
};
// a table that was written after the page, or before it
const otherVersion = (answers) =>
  table.size !== study.counts.answers ||
  (answers.version !== undefined && answers.version !== study.version);
const itemOf = (row) => study.items[column.item[row]];
const isList = (row) => !isLettered(itemOf(row));
const isRead = (row) => (column.base[row] & READ) !== 0;
const puppetOf = (row) => (column.puppet[row] < 0 ? null : table.puppets[column.puppet[row]]);
const reasonOf = (row) => (column.reason[row] < 0 ? null : table.reasons[column.reason[row]]);
const optionsOf = (row) =>
  Array.from(column.optionValues.subarray(column.optionStarts[row], column.optionStarts[row + 1]));
const readingOf = (row) => {
  if (!isRead(row)) return null;
  return isList(row)
    ? optionsOf(row).map((i) => table.names[i])
    : [choiceLabel(itemOf(row), column.letter[row])];
};

// ---- details of an answer and messages of a context
const detailsFile = (row) => {
  let low = 0;
  let high = study.details.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (study.details[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
};
const detailsName = (file) => `details-${String(file).padStart(3, "0")}`;
const detailOf = async (row) => {
  const file = detailsFile(row);
  const rows = await keptFile(detailsName(file));
  const detail = rows[row - study.details[file]];
  if (!detail) throw new Error("The files of this page are of different versions. Write the page again.");
  return detail;
};
const isContextFile = (name) => typeof name === "string" && /^contexts-\d+$/.test(name);
const messagesOf = async (context) => {
  const rows = await keptFile(context.file);
  const entry = rows[context.place];
  if (entry?.id !== context.id) {
    throw new Error("The files of this page are of different versions. Write the page again.");
  }
  return entry.messages;
};
