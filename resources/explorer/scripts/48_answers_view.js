// The list of answers that the filters leave; the search through texts; ten at random, seen blind.
const LIST_FILTERS = [
  "model",
  "task",
  "item",
  "condition",
  "puppet",
  "replicate",
  "kind",
  "option",
  "base",
  "outcome",
  "reason",
  "doubt",
];

// ---- search: details files are read one after another, and only those that have rows of the filters
const searches = new Map();
const matchingContexts = async (word, wanted, task) => {
  const byFile = new Map();
  for (const place of wanted) {
    const { file } = table.contexts[place];
    if (isContextFile(file)) byFile.set(file, [...(byFile.get(file) ?? []), place]);
  }
  const matches = new Set();
  let done = 0;
  for (const [file, contexts] of byFile) {
    if (task.cancelled) break;
    const entries = await (files.get(file) ?? loadFile(file));
    for (const place of contexts) {
      const messages = entries[table.contexts[place].place]?.messages ?? [];
      if (messages.some((message) => message.content.toLowerCase().includes(word))) matches.add(place);
    }
    done += 1;
    task.progress(done, byFile.size, "files of contexts");
  }
  return matches;
};
const contextsOf = (rows) => {
  const wanted = new Set();
  for (const row of rows) if (column.context[row] >= 0) wanted.add(column.context[row]);
  return wanted;
};
const search = async (rows, word, inContexts, task) => {
  const key = word.toLowerCase();
  const contexts = inContexts ? await matchingContexts(key, contextsOf(rows), task) : new Set();
  const matches = [];
  const nFiles = rows.length ? new Set(Array.from(rows, detailsFile)).size : 0;
  let done = 0;
  for (let i = 0; i < rows.length && !task.cancelled;) {
    const file = detailsFile(rows[i]);
    const name = detailsName(file);
    // read past the kept files, so that a search through all does not fill the memory
    const details = await (files.get(name) ?? loadFile(name));
    const end = study.details[file + 1] ?? table.size;
    for (; i < rows.length && rows[i] < end; i += 1) {
      const text = details[rows[i] - study.details[file]]?.text;
      if (contexts.has(column.context[rows[i]]) || text?.toLowerCase().includes(key))
        matches.push(rows[i]);
    }
    done += 1;
    task.progress(done, nFiles, "files of replies", matches.length);
  }
  return Int32Array.from(matches);
};

const filterWords = (filters) =>
  LIST_FILTERS.flatMap((name) => filters.getAll(name).map((value) => [name, value])).map(
    ([name, value]) => {
      if (name === "base") return BASE_WORDS.get(value) ?? value;
      if (name === "doubt") return DOUBTS.get(value)?.label ?? value;
      if (name === "model") return labelOf(study.models[modelPlaces.get(value)]) || value;
      if (name === "condition") return labelOf(study.conditions[conditionPlaces.get(value)]) || value;
      return value;
    },
  );
const searchKey = (filters) => withFilters(filters, { random: "" }).toString();
const newSeed = () => String(crypto.getRandomValues(new Uint32Array(1))[0] % 1000000);

// ---- the blind view
const blindCard = (row, place) => {
  const hidden = h("p", { class: "hint" }, "Model, condition and user are hidden.");
  const reveal = button("Reveal", () => {
    hidden.replaceWith(h("p", { class: "about", dir: "auto" }, link(answerAddress(row), aboutRow(row))));
    reveal.remove();
  });
  reveal.dataset.reveal = "";
  return h(
    "li",
    { class: "card" },
    h("h2", {}, `Answer ${place + 1}`),
    said(oneLine(itemOf(row).question || itemOf(row).prompt || "", 300), "p", { class: "asking" }),
    later(detailOf(row), (detail) => replyText(detail, 1200)),
    h("p", { class: isRead(row) ? "reading" : "reading none", dir: "auto" }, readingText(row)),
    hidden,
    h("p", { class: "buttons" }, reveal),
  );
};
const replyText = (detail, limit) =>
  detail.text === null || detail.text === undefined
    ? h("p", { class: "hint" }, "The text of this reply is not in this page.")
    : longText(detail.text, limit);

const answersView = {
  title: () => "Answers",
  build(container) {
    const total = h("p", { class: "total", role: "status" });
    const words = h("p", { class: "hint", dir: "auto" });
    const buttons = h("p", { class: "buttons" });
    const progress = h("div", { class: "progress" });
    const results = h("div", { class: "results" });
    const form = filterForm(
      "Filters",
      [...LIST_FILTERS.map((name) => FIELDS[name]()), tickField("contexts", "search contexts too")],
      (filters) => {
        filters.delete("random");
        go(addressOf("answers", filters));
      },
    );
    container.append(form.node, total, words, buttons, progress, results);
    let task = { cancelled: false };
    const showRows = (rows, filters) => {
      rowAddress.list = rows;
      rowAddress.filters = filters.toString();
      if (filters.has("random")) {
        const drawn = randomRows(rows, filters.get("random"));
        total.textContent = `${count(drawn.length)} of ${countText(rows)}, drawn at random`;
        put(results, h("ol", { class: "cards" }, drawn.map(blindCard)));
        currentList = null;
      } else {
        total.textContent = countText(rows);
        if (rows.length) showList(results, answerList(rows, filters.get("q")));
        else put(results, note("No answer is left. Take a filter away."));
      }
    };
    const showButtons = (filters) => {
      const isRandom = filters.has("random");
      put(
        buttons,
        ...[
          button(isRandom ? "Another ten" : "Ten at random", () =>
            go(addressOf("answers", withFilters(filters, { random: newSeed() }))),
          ),
          isRandom
            ? button("Reveal all", () => {
                results.querySelectorAll("[data-reveal]").forEach((node) => node.click());
                say("Models, conditions and users are shown.");
              })
            : null,
          isRandom
            ? h(
                "a",
                { class: "button", href: addressOf("answers", withFilters(filters, { random: "" })) },
                "Back to the list",
              )
            : null,
          filters.toString() ? h("a", { class: "button", href: "#/answers" }, "No filters") : null,
        ].filter(Boolean),
      );
    };
    const runSearch = async (rows, word, filters) => {
      const current = { cancelled: false };
      task = current;
      const bar = h("progress", { max: 1, value: 0, "aria-label": "Search" });
      const text = h("span", {}, "Searching …");
      current.progress = (done, all, what, found = 0) => {
        bar.max = all;
        bar.value = done;
        text.textContent = `${count(done)} of ${count(all)} ${what}; ${plural(found, "answer")} so far`;
      };
      put(
        progress,
        bar,
        " ",
        text,
        " ",
        button("Cancel", () => {
          current.cancelled = true;
        }),
      );
      put(results);
      total.textContent = "";
      currentList = null;
      try {
        const matches = await search(rows, word, filters.get("contexts") === "yes", current);
        if (task !== current) return;
        put(progress);
        if (current.cancelled)
          progress.append(note("The search was cancelled. What it found so far is listed.", "warning"));
        else searches.set(searchKey(filters), matches);
        if (searches.size > 5) searches.delete(searches.keys().next().value);
        showRows(matches, filters);
      } catch (error) {
        if (task === current) put(progress, note(error.message, "warning"));
      }
    };
    return (filters) => {
      task.cancelled = true;
      task = { cancelled: true };
      form.show(filters);
      showButtons(filters);
      put(progress);
      const rows = selectRows(filters);
      const word = (filters.get("q") ?? "").trim();
      const parts = filterWords(filters);
      if (word) parts.push(`“${word}”`);
      words.textContent = parts.length ? `Of: ${parts.join(" · ")}` : "All answers of the study.";
      if (!word) showRows(rows, filters);
      else if (searches.has(searchKey(filters))) showRows(searches.get(searchKey(filters)), filters);
      else runSearch(rows, word, filters);
    };
  },
};
