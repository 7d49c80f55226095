// A person's corrections: kept in this browser where it allows that, and written as a file that
// `parsing.overrides` reads. The numbers of this page do not change by them; those of the next run do.
const CORRECTION_COLUMNS = ["task", "item_id", "raw", "canonical", "text_sha256", "reading"];
const STORAGE_KEY = `fieldwork:explorer:${study.name}`;
const corrections = new Map();
const correctionKey = (entry) =>
  JSON.stringify(
    entry.text_sha256
      ? ["text", entry.task, entry.item_id, entry.text_sha256]
      : ["raw", entry.task, entry.item_id, entry.raw],
  );
const correctionListeners = new Set();
let storage = null;
let isStorageOpened = false;
let isUnsaved = false;
// Chromium runs the script of a page opened as a file before it knows whose storage that is, and answers
// this query only afterwards; other browsers answer it too.
const storageIsReady = async () => {
  const timeout = new Promise((done) => setTimeout(done, 1000));
  try {
    await Promise.race([indexedDB.databases(), timeout]);
  } catch {
    /* then the storage is used as it is */
  }
};
const takeStored = (text) => {
  const entries = JSON.parse(text ?? "[]");
  corrections.clear();
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (CORRECTION_COLUMNS.every((name) => typeof entry[name] === "string"))
      corrections.set(correctionKey(entry), entry);
  }
};
const openStorage = async () => {
  await storageIsReady();
  const early = [...corrections];
  try {
    storage = window.localStorage;
    takeStored(storage.getItem(STORAGE_KEY));
  } catch {
    storage = null;
  }
  isStorageOpened = true;
  early.forEach(([key, entry]) => corrections.set(key, entry));
  if (early.length) storeCorrections();
  else tellCorrections();
};
const tellCorrections = () => [...correctionListeners].forEach((listener) => listener());
const storeCorrections = () => {
  isUnsaved = true;
  try {
    storage?.setItem(STORAGE_KEY, JSON.stringify([...corrections.values()]));
    isUnsaved = !storage;
  } catch {
    storage = null;
  }
  tellCorrections();
};
const addCorrections = (entries) => {
  entries.forEach((entry) => corrections.set(correctionKey(entry), entry));
  storeCorrections();
};
const removeCorrection = (key) => {
  corrections.delete(key);
  storeCorrections();
};
window.addEventListener("storage", (event) => {
  // a change in another tab
  if (storage && event.key === STORAGE_KEY) {
    takeStored(event.newValue);
    tellCorrections();
  }
});
window.addEventListener("beforeunload", (event) => {
  if (isUnsaved && corrections.size) event.preventDefault();
});

// ---- the file
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/;
const csvCell = (value) => {
  const text = wellFormed(value);
  // a spreadsheet would run it as a formula; the reader removes exactly one apostrophe
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};
const correctionsCsv = () =>
  [
    CORRECTION_COLUMNS,
    ...[...corrections.values()].map((entry) => CORRECTION_COLUMNS.map((name) => entry[name])),
  ]
    .map((cells) => `${cells.map(csvCell).join(",")}\r\n`)
    .join("");
const parseCsv = (text) => {
  const rows = [];
  let cells = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    cells.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    if (match[3] !== ",") {
      if (cells.length > 1 || cells[0] !== "") rows.push(cells);
      cells = [];
    }
    if (pattern.lastIndex >= text.length && match[3] !== ",") break;
  }
  return rows;
};
const readCorrections = (text) => {
  const [header = [], ...rows] = parseCsv(text.replace(/^\ufeff/, ""));
  const places = CORRECTION_COLUMNS.map((name) => header.indexOf(name));
  if (places.includes(-1)) {
    throw new Error(`The file has not the columns ${CORRECTION_COLUMNS.join(", ")}.`);
  }
  return rows
    .map((cells) =>
      Object.fromEntries(
        CORRECTION_COLUMNS.map((name, i) => {
          const cell = cells[places[i]] ?? "";
          return [name, GUARDED.test(cell) ? cell.slice(1) : cell];
        }),
      ),
    )
    .filter((entry) => entry.text_sha256 || (entry.raw && entry.canonical));
};
const downloadCorrections = () => {
  const url = URL.createObjectURL(
    new Blob([`\ufeff${correctionsCsv()}`], { type: "text/csv;charset=utf-8" }),
  );
  const anchor = h("a", { href: url, download: "corrections.csv" });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  isUnsaved = false;
  say("corrections.csv is saved.");
};

// ---- what is corrected here, and how an answer gets a correction
const entryFor = (item, changes) => ({
  task: item.task,
  item_id: item.item,
  raw: "",
  canonical: "",
  text_sha256: "",
  reading: "",
  ...changes,
});
const correctionsOf = (row, detail) => {
  const item = itemOf(row);
  const keys = (detail.written ?? []).map(({ raw }) => correctionKey(entryFor(item, { raw })));
  if (detail.sha256) keys.unshift(correctionKey(entryFor(item, { text_sha256: detail.sha256 })));
  return [...new Set(keys)]
    .filter((key) => corrections.has(key))
    .map((key) => [key, corrections.get(key)]);
};
const readingLines = (reading) =>
  reading
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
const countsAs = (raw, name) => [
  "“",
  bdi(oneLine(raw, 120)),
  "” counts as “",
  bdi(oneLine(name, 120)),
  "”",
];
const correctionWords = (entry) => {
  if (!entry.text_sha256) return countsAs(entry.raw, entry.canonical);
  const lines = readingLines(entry.reading);
  return lines.length
    ? ["the reading is “", bdi(oneLine(lines.join(" · "), 200)), "”"]
    : ["there is no answer in it"];
};
// whether the numbers of this page already hold a correction: a person's reading that is the same
const isInNumbers = (row, entry) => {
  if (!(column.doubt[row] & DOUBTS.get("corrected").bit)) return false;
  const item = itemOf(row);
  if (!entry.text_sha256) return optionsOf(row).some((place) => table.names[place] === entry.canonical);
  const lines = readingLines(entry.reading);
  if (isLettered(item))
    return (lines[0] ?? "") === (column.letter[row] < 0 ? "" : letterOf(column.letter[row]));
  return JSON.stringify(lines) === JSON.stringify(optionsOf(row).map((place) => table.names[place]));
};
const correctionState = (row, detail) =>
  correctionsOf(row, detail).map(([key, entry]) =>
    h(
      "p",
      { class: "corrected" },
      isInNumbers(row, entry)
        ? h("span", { class: "badge" }, "Corrected, in the numbers")
        : h("span", { class: "badge pending" }, "Corrected here, not yet in the numbers"),
      " ",
      correctionWords(entry),
      " ",
      button("Undo", () => removeCorrection(key), { class: "quiet" }),
    ),
  );
const sameText = () =>
  h("p", { class: "hint" }, "A reading counts for all replies to this question with the same text.");
const readingForm = (row, detail) => {
  const item = itemOf(row);
  const current = corrections.get(correctionKey(entryFor(item, { text_sha256: detail.sha256 })));
  const keep = (reading) => {
    addCorrections([entryFor(item, { text_sha256: detail.sha256, reading })]);
    say("The correction is kept. It is not yet in the numbers.");
  };
  if (isLettered(item)) {
    const letters = (item.choices ?? []).map((_, place) => letterOf(place));
    const select = h(
      "select",
      {},
      h("option", { value: "" }, "choose"),
      letters.map((letter, place) =>
        h("option", { value: letter }, oneLine(choiceLabel(item, place), 80)),
      ),
      h("option", { value: "none" }, "there is no answer in it"),
    );
    if (current) select.value = readingLines(current.reading)[0] ?? "none";
    return h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (select.value) keep(select.value === "none" ? "" : select.value);
          else select.focus();
        },
      },
      sameText(),
      h("label", { class: "field" }, h("span", {}, "What the reply answers"), select),
      h("p", { class: "buttons" }, h("button", { class: "side", type: "submit" }, "Keep this reading")),
    );
  }
  const lines = current
    ? readingLines(current.reading)
    : optionsOf(row).map((place) => table.names[place]);
  const area = h("textarea", {
    rows: String(Math.min(12, Math.max(4, lines.length + 1))),
    dir: "auto",
    spellcheck: "false",
  });
  area.value = lines.join("\n");
  const none = h("input", { type: "checkbox" });
  none.checked = Boolean(current) && !lines.length;
  const mark = () => {
    area.disabled = none.checked;
  };
  none.addEventListener("change", mark);
  mark();
  return h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const reading = none.checked ? [] : readingLines(area.value);
        if (reading.length || none.checked) keep(reading.join("\n"));
        else area.focus();
      },
    },
    sameText(),
    h("label", { class: "field" }, h("span", {}, "The options of the reply, one a line"), area),
    h("label", { class: "tick" }, none, " There is no answer in it"),
    h("p", { class: "buttons" }, h("button", { class: "side", type: "submit" }, "Keep this reading")),
  );
};
const namesForm = (row, detail) => {
  const item = itemOf(row);
  const inputs = detail.written.map(({ raw, name }) => {
    const current = corrections.get(correctionKey(entryFor(item, { raw })));
    const input = h("input", { type: "text", dir: "auto", spellcheck: "false" });
    input.value = current?.canonical ?? name;
    return { raw, name: current?.canonical ?? name, input };
  });
  return h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const changed = inputs.filter(
          ({ name, input }) => input.value.trim() && input.value.trim() !== name,
        );
        if (!changed.length) {
          inputs[0].input.focus();
          return;
        }
        addCorrections(
          changed.map(({ raw, input }) => entryFor(item, { raw, canonical: input.value.trim() })),
        );
        say("The names are kept. They are not yet in the numbers.");
      },
    },
    h("p", { class: "hint" }, "A name counts for all answers to this question that write the option so."),
    inputs.map(({ raw, input }) => {
      const words = h("span", {}, "“", bdi(oneLine(raw, 120)), "” counts as");
      return h("label", { class: "field" }, words, input);
    }),
    h("p", { class: "buttons" }, h("button", { class: "side", type: "submit" }, "Keep these names")),
  );
};
const correctionBox = (row, detail) => {
  const box = h("div", { class: "correction" });
  const draw = () => {
    if (!box.isConnected && box.childNodes.length) {
      correctionListeners.delete(draw);
      return;
    }
    const hadFocus = box.contains(document.activeElement);
    const isOpen = box.querySelector("details")?.open && !hadFocus;
    const parts = [];
    if (detail.sha256) parts.push(readingForm(row, detail));
    if (detail.written?.length) parts.push(h("h3", {}, "Names of its options"), namesForm(row, detail));
    const form = h(
      "details",
      {},
      h("summary", {}, "Correct this reading"),
      parts.length
        ? parts
        : h("p", {}, "The text of this reply is not in this page, so nothing can be corrected here."),
    );
    form.open = Boolean(isOpen);
    put(box, ...correctionState(row, detail), form);
    if (hadFocus) form.querySelector("summary").focus();
  };
  draw();
  correctionListeners.add(draw);
  return box;
};
