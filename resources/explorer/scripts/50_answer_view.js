// One answer: the prompt as sent, the raw reply, how it was read, and the record of the call.
const rowOf = (filters) => {
  const plain = new URLSearchParams();
  for (const name of ["model", "task", "condition", "item", "puppet", "replicate"]) {
    if (filters.has(name)) plain.set(name, filters.get(name));
  }
  const rows = selectRows(plain);
  if (filters.has("puppet")) return rows[0] ?? -1;
  // an address without a user means the answer without one
  return rows.find((row) => column.puppet[row] < 0) ?? rows[0] ?? -1;
};
const letterWords = (item, place) => (place < 0 ? "none" : choiceLabel(item, place));
const writtenTable = (detail) =>
  scroller(
    "Options as written",
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["As written", "Counted as", "Decided by"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        detail.written.map(({ raw, name, rule }) =>
          h(
            "tr",
            {},
            h("td", { dir: "auto" }, raw),
            h("td", { dir: "auto" }, name),
            h("td", { class: rule === "near" ? "doubted" : null }, RULE_WORDS.get(rule) ?? rule),
          ),
        ),
      ),
    ),
  );
const probabilityTable = (probabilities) =>
  scroller(
    "Probabilities",
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Option", "Probability"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        probabilities.map(([option, share]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", dir: "auto" }, option),
            h("td", {}, shareBar(share), " ", share < 0.001 ? share.toExponential(1) : share.toFixed(3)),
          ),
        ),
      ),
    ),
  );
const readingBox = (row, detail) => {
  const item = itemOf(row);
  const parts = [];
  if (!isRead(row)) parts.push(said(readingText(row), "p", { class: "reading none" }));
  if (isList(row)) {
    if (isRead(row))
      parts.push(
        h(
          "ol",
          { class: "options" },
          readingOf(row).map((name) => said(name, "li")),
        ),
      );
    if (detail.written?.length) parts.push(writtenTable(detail));
  } else {
    parts.push(
      facts([
        ["Letter, flexible reading", letterWords(item, column.letter[row])],
        ["Letter, strict reading (as in HELM)", letterWords(item, column.strict[row])],
        ["Correct letter", item.gold ? letterWords(item, letterPlace(item.gold)) : null],
      ]),
    );
  }
  const marks = badges(row);
  if (marks.length) parts.push(h("p", {}, marks));
  return h("div", {}, parts);
};
const recordFacts = (row, detail) =>
  facts([
    ["Model asked", study.models[column.model[row]].asked],
    ["Model returned", detail.returned_model],
    [
      "Outcome",
      OUTCOME_WORDS.get(table.outcomes[column.outcome[row]]) ?? table.outcomes[column.outcome[row]],
    ],
    ["Why the reply ended", detail.finish_reason],
    ["Temperature", detail.temperature ?? study.conditions[column.condition[row]].temperature],
    ["Temperature sent", detail.temperature_sent],
    ["Limit of tokens", detail.max_tokens],
    ["Seed", detail.seed],
    ["Repeat", column.replicate[row]],
    ["Input tokens", detail.input_tokens],
    ["Of these from the provider's cache", detail.cached_tokens],
    ["Output tokens", detail.output_tokens],
    ["Of these reasoning", detail.reasoning_tokens],
    ["Cost", detail.cost_usd === null || detail.cost_usd === undefined ? null : `${detail.cost_usd} USD`],
    [
      "Latency",
      detail.latency_s === null || detail.latency_s === undefined ? null : `${detail.latency_s} s`,
    ],
    ["Attempts", detail.attempts],
    ["Date (UTC)", detail.started_at?.replace("T", " ").replace(/Z$/, "")],
    ["Way of sending", detail.dispatch],
    ["Service tier", detail.service_tier],
    ["Fingerprint", detail.fingerprint],
    ["Request id", detail.request_id],
    ["Source", detail.source],
    ["Defects", detail.defects?.length ? detail.defects.join(", ") : null],
    ["Length", plural(column.length[row], "character")],
    ["Ledger key", detail.ledger_key],
    ["Read by", detail.read_by],
    ["SHA-256 of the reply", detail.sha256],
  ]);
// the answer before and after it: in the list that was last seen, else in the whole table
const neighbours = (row) => {
  const rows = rowAddress.list;
  const place = rows ? rows.indexOf(row) : -1;
  if (place >= 0) {
    return { before: rows[place - 1], after: rows[place + 1], place, total: rows.length, isListed: true };
  }
  return {
    before: row > 0 ? row - 1 : undefined,
    after: row + 1 < table.size ? row + 1 : undefined,
    place: row,
    total: table.size,
    isListed: false,
  };
};
const stepLink = (row, rel, words) =>
  row === undefined ? h("span") : h("a", { href: answerAddress(row), rel }, words);
const stepLinks = (row) => {
  const { before, after, place, total, isListed } = neighbours(row);
  return h(
    "nav",
    { class: "steps", "aria-label": "Answers before and after" },
    stepLink(before, "prev", "‹ Previous"),
    h(
      "span",
      { class: "hint" },
      isListed
        ? [
            "Answer ",
            count(place + 1),
            " of ",
            count(total),
            " in ",
            link(addressOf("answers", new URLSearchParams(rowAddress.filters)), "the list"),
          ]
        : `Answer ${count(place + 1)} of ${count(total)}`,
    ),
    stepLink(after, "next", "Next ›"),
  );
};
const relatedLinks = (row) => {
  const item = itemOf(row);
  const model = study.models[column.model[row]].name;
  const condition = study.conditions[column.condition[row]].name;
  const puppet = puppetOf(row);
  const question = { model, task: item.task, item: item.item };
  return list(
    [
      link(addressOf("question", { task: item.task, item: item.item }), "All answers to this question"),
      condition === study.baseline
        ? null
        : link(
            addressOf("answers", { ...question, condition: study.baseline }),
            "The same question under the baseline, ",
            bdi(conditionLabel(baselinePlace)),
          ),
      condition === study.baseline
        ? null
        : link(
            addressOf("compare", { ...question, condition: study.baseline, other: condition }),
            "Compare this condition with the baseline",
          ),
      puppet === null
        ? null
        : link(
            addressOf("compare", { ...question, condition, puppet }),
            "Compare this user with the baseline",
          ),
      puppet === null ? null : link(addressOf("user", { puppet, condition }), "This user: ", bdi(puppet)),
    ].filter(Boolean),
    { class: "related" },
  );
};
const answerView = {
  title: (filters) => {
    const row = rowOf(filters);
    return row < 0
      ? "No such answer"
      : `Answer of ${modelLabel(column.model[row])} to ${itemOf(row).item}`;
  },
  build(container) {
    return (filters) => {
      const row = rowOf(filters);
      if (row < 0) {
        put(container, note("This study has no answer of this address. It may be of another study."));
        return;
      }
      const item = itemOf(row);
      const hasUser = column.puppet[row] >= 0;
      put(
        container,
        h("p", { class: "about", dir: "auto" }, aboutRow(row)),
        stepLinks(row),
        h("h2", {}, "Prompt"),
        column.context[row] < 0 && !hasUser
          ? h("p", { class: "hint" }, "No context came before the question.")
          : disclosure("Context that came before the question", () => contextBox(column.context[row])),
        h("div", { class: "prompt" }, longText(item.prompt ?? item.question ?? "", 3000)),
        h("h2", {}, "Reply"),
        later(detailOf(row), (detail) =>
          h(
            "div",
            {},
            h("div", { class: "raw" }, replyText(detail, 4000)),
            h("h2", {}, "Reading"),
            readingBox(row, detail),
            correctionBox(row, detail),
            detail.probabilities?.length
              ? [
                  h("h2", {}, "Probabilities that the model stated"),
                  probabilityTable(detail.probabilities),
                ]
              : null,
            h("h2", {}, "Call"),
            recordFacts(row, detail),
          ),
        ),
        h("h2", {}, "Related"),
        relatedLinks(row),
      );
    };
  },
};
