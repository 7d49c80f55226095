// Shares of options among groups of answers, side by side.
const UNKNOWN = "unknown";
const nothing = () => ({ n: 0, unread: 0, counts: new Map() });
// options of list answers and letters of choice answers, by place; -1 is a choice without a letter
const addRow = (tally, row, list) => {
  tally.n += 1;
  if (!(column.base[row] & READ)) tally.unread += 1;
  if (!list) {
    const place = column.letter[row];
    tally.counts.set(place, (tally.counts.get(place) ?? 0) + 1);
    return;
  }
  for (let k = column.optionStarts[row]; k < column.optionStarts[row + 1]; k += 1) {
    const place = column.optionValues[k];
    tally.counts.set(place, (tally.counts.get(place) ?? 0) + 1);
  }
};
const tallyRows = (rows, list) => {
  const tally = nothing();
  for (let i = 0; i < rows.length; i += 1) addRow(tally, rows[i], list);
  return tally;
};
const optionWords = (item, place) => {
  if (!isLettered(item)) return table.names[place];
  return place < 0 ? "no letter could be read" : choiceLabel(item, place);
};
const optionFilter = (item, place) => {
  if (!isLettered(item)) return table.names[place];
  return place < 0 ? UNKNOWN : letterOf(place);
};
// all options of some groups, the most frequent in any of them first; letters in their own order
const optionsOfAll = (item, tallies) => {
  const best = new Map();
  for (const tally of tallies) {
    for (const [place, n] of tally.counts) best.set(place, Math.max(best.get(place) ?? 0, n / tally.n));
  }
  if (isLettered(item)) {
    (item.choices ?? []).forEach((_, place) => {
      if (!best.has(place)) best.set(place, 0);
    });
    return [...best.keys()].sort((a, b) => (a < 0) - (b < 0) || a - b);
  }
  return [...best].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([place]) => place);
};
const OPTIONS_AT_ONCE = 25;

// a table of shares: a row for each option, a column for each group {label, tally, filters}
const shareTable = (item, groups, label, { difference = false } = {}) => {
  const filled = groups.filter((group) => group.tally.n);
  const options = optionsOfAll(
    item,
    filled.map((group) => group.tally),
  );
  const gold = item.gold ? letterPlace(item.gold) : -2;
  const row = (place) => {
    const naming = filled.filter((group) => group.tally.counts.get(place));
    const only = filled.length > 1 && naming.length === 1 ? naming[0] : null;
    const shares = groups.map((group) => (group.tally.counts.get(place) ?? 0) / (group.tally.n || 1));
    return h(
      "tr",
      {},
      h(
        "th",
        { scope: "row", dir: "auto", class: only ? "only" : null },
        cut(optionWords(item, place), 200),
        place === gold && isLettered(item) ? h("span", { class: "sign" }, " ✓ correct") : null,
        only ? h("span", { class: "sign line" }, "only in ", bdi(only.label)) : null,
      ),
      groups.map((group, i) => {
        const n = group.tally.counts.get(place) ?? 0;
        if (!group.tally.n) return h("td", { class: "number" }, "–");
        const text = `${percent(n, group.tally.n)} (${count(n)})`;
        return h(
          "td",
          { class: "number" },
          shareBar(shares[i]),
          " ",
          n
            ? link(addressOf("answers", { ...group.filters, option: optionFilter(item, place) }), text)
            : text,
        );
      }),
      difference
        ? h("td", { class: "number" }, points(shares[1] - shares[0], filled.length === 2))
        : null,
    );
  };
  const body = h("tbody", {}, options.slice(0, OPTIONS_AT_ONCE).map(row));
  const more =
    options.length <= OPTIONS_AT_ONCE
      ? null
      : button(`Show all ${count(options.length)} options`, () => {
          body.append(...options.slice(OPTIONS_AT_ONCE).map(row));
          more.remove();
          body.rows[OPTIONS_AT_ONCE]?.querySelector("a")?.focus();
        });
  return h(
    "div",
    {},
    scroller(
      label,
      h(
        "table",
        { class: "shares" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Option"),
            groups.map((group) => h("th", { scope: "col" }, bdi(group.label))),
            difference ? h("th", { scope: "col" }, "Difference") : null,
          ),
          h(
            "tr",
            {},
            h("th", { scope: "row" }, "Answers"),
            groups.map((group) =>
              h(
                "td",
                { class: "number" },
                group.tally.n ? link(addressOf("answers", group.filters), count(group.tally.n)) : "none",
                group.tally.unread
                  ? h("span", { class: "sign" }, ` ${count(group.tally.unread)} not read`)
                  : null,
              ),
            ),
            difference ? h("td") : null,
          ),
        ),
        body,
      ),
    ),
    options.length ? null : h("p", { class: "hint" }, "No option was read in these answers."),
    more,
  );
};
const points = (difference, isComplete) => {
  if (!isComplete) return "–";
  const value = Math.round(1000 * difference) / 10;
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)} points`;
};
const promptBox = (item) =>
  h("div", { class: "prompt" }, longText(item.prompt ?? item.question ?? "", 2000));
// where a view needs a question and the address names none
const questionList = (view, filters) =>
  h(
    "div",
    {},
    study.tasks
      .filter((task) => !filters.get("task") || filters.get("task") === task)
      .map((task) => {
        const items = study.items.filter((item) => item.task === task);
        return h(
          "section",
          {},
          h("h2", { dir: "auto" }, task),
          pagedList(items, (item) =>
            link(
              addressOf(view, withFilters(filters, { task, item: item.item })),
              bdi(item.item),
              ": ",
              bdi(oneLine(item.question ?? item.prompt ?? "", 120)),
            ),
          ),
        );
      }),
  );
const pagedList = (entries, make, step = 100) => {
  const box = h(
    "ul",
    {},
    entries.slice(0, step).map((entry) => h("li", {}, make(entry))),
  );
  if (entries.length <= step) return box;
  const more = button(`Show all ${count(entries.length)}`, () => {
    const nodes = entries.slice(step).map((entry) => h("li", {}, make(entry)));
    box.append(...nodes);
    more.remove();
    nodes[0].querySelector("a")?.focus();
  });
  return h("div", {}, box, more);
};
const itemOfFilters = (filters) => {
  const id = filters.get("item");
  const task = filters.get("task");
  return study.items.find((item) => item.item === id && (!task || item.task === task)) ?? null;
};
