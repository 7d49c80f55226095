// Everything that a person should look at: unread, refused, truncated, merged by likeness, of odd length.
const CARDS = 10;
const doubtLinks = (filters) => {
  const rows = selectRows(withFilters(filters, { doubt: "any" }));
  const counts = new Map([...DOUBTS.keys()].map((name) => [name, 0]));
  for (let i = 0; i < rows.length; i += 1) {
    for (const [name, { bit }] of DOUBTS)
      if (column.doubt[rows[i]] & bit) counts.set(name, counts.get(name) + 1);
  }
  const current = filters.get("doubt") ?? "";
  const entry = (name, label, n) =>
    h(
      "a",
      {
        href: addressOf("doubtful", withFilters(filters, { doubt: name })),
        "aria-current": current === name ? "true" : null,
        "data-doubt": name || "any",
      },
      `${label}: ${count(n)}`,
    );
  return list(
    [
      entry("", "All", rows.length),
      ...[...DOUBTS].map(([name, { label }]) => entry(name, label, counts.get(name))),
    ],
    { class: "kinds" },
  );
};
// options that got their name by likeness, with the name
const likeness = (detail) => {
  const near = (detail.written ?? []).filter(({ rule }) => rule === "near");
  return near.length ? list(near.map(({ raw, name }) => countsAs(raw, name))) : null;
};
const doubtCard = (row, place, total) =>
  h(
    "li",
    { class: "card", "data-card": place },
    h(
      "h2",
      { class: "about" },
      link(answerAddress(row), `${count(place + 1)} of ${count(total)}: `, aboutRow(row, shortId)),
    ),
    said(oneLine(itemOf(row).question || itemOf(row).prompt || "", 300), "p", { class: "asking" }),
    h("p", {}, badges(row)),
    later(detailOf(row), (detail) =>
      h(
        "div",
        {},
        replyText(detail, 1000),
        h(
          "p",
          { class: isRead(row) ? "reading" : "reading none", dir: "auto" },
          "Reading: ",
          readingText(row),
        ),
        likeness(detail),
        correctionBox(row, detail),
      ),
    ),
  );

const correctionTools = () => {
  const box = h("section", { class: "note tools", "aria-label": "Corrections" });
  const file = h("input", { type: "file", accept: ".csv,text/csv" });
  const fault = h("p", { role: "alert" });
  file.addEventListener("change", async () => {
    fault.textContent = "";
    try {
      const entries = readCorrections(await file.files[0].text());
      addCorrections(entries);
      say(`${plural(entries.length, "correction")} read.`);
    } catch (error) {
      fault.textContent = error.message;
    }
    file.value = "";
  });
  const total = h("p", {});
  const save = button("Download corrections.csv", downloadCorrections, { class: "main" });
  const entries = h("div");
  const volatile = h(
    "p",
    { class: "hint" },
    "This browser keeps nothing for this page. Download the file before you close it.",
  );
  const draw = () => {
    if (!box.isConnected && total.textContent) {
      correctionListeners.delete(draw);
      return;
    }
    put(
      total,
      h("strong", {}, plural(corrections.size, "correction")),
      corrections.size ? " in this browser, not yet in the numbers of this page." : " so far.",
    );
    save.hidden = !corrections.size;
    volatile.hidden = !isStorageOpened || storage !== null;
    const isOpen = entries.querySelector("details")?.open;
    put(entries);
    if (!corrections.size) return;
    const all = h(
      "details",
      {},
      h("summary", {}, "List of corrections"),
      pagedList([...corrections], ([key, entry]) => [
        bdi(`${entry.task} / ${entry.item_id}`),
        ": ",
        correctionWords(entry),
        " ",
        button(
          "Undo",
          () => {
            removeCorrection(key);
            (entries.querySelector("summary") ?? file).focus();
          },
          { class: "quiet" },
        ),
      ]),
    );
    all.open = Boolean(isOpen);
    entries.append(all);
  };
  box.append(
    total,
    h(
      "p",
      { class: "hint" },
      "Save the file beside your study file, set ",
      h("code", {}, "parsing.overrides: [corrections.csv]"),
      " there, and run the study again. A person's word wins over the program's.",
    ),
    h("p", { class: "buttons" }, save),
    entries,
    h(
      "label",
      { class: "field" },
      h("span", {}, "Go on with a corrections.csv that was saved before"),
      file,
    ),
    fault,
    volatile,
  );
  draw();
  correctionListeners.add(draw);
  return box;
};
const doubtfulView = {
  title: () => "Doubtful readings",
  build(container) {
    const form = filterForm(
      "Filters",
      [FIELDS.model(), FIELDS.task(), FIELDS.item(), FIELDS.condition()],
      (filters) => {
        filters.delete("from");
        go(addressOf("doubtful", filters));
      },
    );
    const kinds = h("div");
    const results = h("div");
    container.append(
      h("p", {}, "A program read these answers, and may have read them wrongly. Correct what is wrong."),
      correctionTools(),
      form.node,
      kinds,
      results,
    );
    return (filters) => {
      form.show(filters);
      const start = Math.max(0, Number(filters.get("from") ?? 0) || 0);
      const own = withFilters(filters, { from: "" });
      put(kinds, doubtLinks(own));
      const wanted = withFilters(own, { doubt: own.get("doubt") || "any" });
      const rows = selectRows(wanted);
      rowAddress.list = rows;
      rowAddress.filters = wanted.toString();
      if (!rows.length) {
        put(results, note("Nothing is doubtful here."));
        return;
      }
      const end = Math.min(rows.length, start + CARDS);
      const page = (from, words, rel) =>
        from < 0 || from >= rows.length
          ? h("span")
          : h("a", { href: addressOf("doubtful", withFilters(own, { from: from || "" })), rel }, words);
      const steps = () =>
        h(
          "nav",
          { class: "steps", "aria-label": "Parts of the list" },
          page(start - CARDS < 0 && start > 0 ? 0 : start - CARDS, "‹ Previous", "prev"),
          h("span", { class: "hint" }, `${count(start + 1)} to ${count(end)} of ${count(rows.length)}`),
          page(start + CARDS, "Next ›", "next"),
        );
      const cards = h(
        "ol",
        { class: "cards" },
        Array.from(rows.subarray(start, start + CARDS), (row, i) =>
          doubtCard(row, start + i, rows.length),
        ),
      );
      put(results, rows.length > CARDS ? steps() : null, cards, rows.length > CARDS ? steps() : null);
      currentList = cardSteps(cards);
    };
  },
};
// j and k from card to card, and on to the next part of the list
const cardSteps = (cards) => ({
  draw: () => {},
  measure: () => {},
  step: (by) => {
    const nodes = [...cards.children];
    const place = nodes.findIndex((node) => node.contains(document.activeElement));
    const next = place < 0 ? 0 : place + by;
    if (nodes[next]) nodes[next].querySelector("a").focus();
    else follow(next < 0 ? "prev" : "next");
  },
});
