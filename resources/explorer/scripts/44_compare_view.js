// One question, the answers of two or more conditions or of a user beside the baseline.
const COLUMN_AT_ONCE = 10;
const hasAnswers = (filters) =>
  selectRows(new URLSearchParams(Object.entries(filters).filter(([, v]) => v))).length > 0;
// the groups of an address: its conditions, or with a user the baseline and then the user's own
const comparedGroups = (item, filters) => {
  const model =
    filters.get("model") ||
    study.models.find((entry) => hasAnswers({ task: item.task, item: item.item, model: entry.name }))
      ?.name ||
    study.models[0].name;
  const base = filters.get("base") || DEFAULT_BASE;
  const common = { model, task: item.task, item: item.item, base };
  const puppet = filters.get("puppet");
  const names = [...new Set([...filters.getAll("condition"), ...filters.getAll("other")])].filter(
    (name) => conditionPlaces.has(name),
  );
  const group = (condition, user) => ({
    label: conditionLabel(conditionPlaces.get(condition)) + (user ? `, ${user}` : ""),
    filters: { ...common, condition, ...(user ? { puppet: user } : {}) },
  });
  if (puppet) {
    const own = (names.length ? names : study.conditions.map((entry) => entry.name)).filter((name) =>
      hasAnswers({ ...common, base: "", condition: name, puppet }),
    );
    return { model, groups: [group(study.baseline), ...own.map((name) => group(name, puppet))] };
  }
  if (names.length < 2) {
    for (const name of [study.baseline, ...study.conditions.map((entry) => entry.name)]) {
      if (
        names.length < 2 &&
        !names.includes(name) &&
        hasAnswers({ ...common, base: "", condition: name })
      )
        names.push(name);
    }
  }
  const inOrder = names.sort(
    (a, b) =>
      (b === study.baseline) - (a === study.baseline) || conditionPlaces.get(a) - conditionPlaces.get(b),
  );
  return { model, groups: inOrder.map((name) => group(name)) };
};
const compareView = {
  title(filters) {
    const item = itemOfFilters(filters);
    return item ? `Answers to ${item.item}, compared` : "Compare";
  },
  build(container) {
    const conditions = ticksField("condition", "Conditions", conditionOptions);
    const form = filterForm(
      "What to compare",
      [
        FIELDS.task(),
        FIELDS.item(),
        selectField("model", "Model", modelOptions(false)),
        textField("puppet", "User, beside the baseline", () => table.puppets),
        baseField(),
        conditions,
      ],
      (filters) => {
        filters.delete("other");
        go(addressOf("compare", filters));
      },
    );
    const results = h("div");
    container.append(form.node, results);
    return (filters) => {
      const item = itemOfFilters(filters);
      if (!item) {
        form.show(filters);
        put(results, h("p", {}, "Which question?"), questionList("compare", filters));
        return;
      }
      const { model, groups } = comparedGroups(item, filters);
      const names = groups.map((group) => group.filters.condition);
      form.show(
        withFilters(filters, {
          model,
          other: "",
          condition: filters.get("puppet") ? filters.getAll("condition") : names,
        }),
      );
      put(results, comparison(item, groups, modelLabel(modelPlaces.get(model))));
    };
  },
};
const comparison = (item, groups, model) => {
  for (const group of groups) {
    group.rows = selectRows(new URLSearchParams(Object.entries(group.filters)));
    group.tally = tallyRows(group.rows, !isLettered(item));
  }
  const filled = groups.filter((group) => group.tally.n);
  const only = (group) =>
    new Set(
      [...group.tally.counts.keys()].filter(
        (place) =>
          filled.length > 1 && filled.every((other) => other === group || !other.tally.counts.get(place)),
      ),
    );
  return h(
    "div",
    {},
    promptBox(item),
    groups.length < 2 ? note("There is only one group of answers. Tick another condition.") : null,
    h("h2", { dir: "auto" }, `Shares, ${model}`),
    shareTable(item, groups, "Shares of options", { difference: groups.length === 2 }),
    h("h2", {}, "Answers"),
    h(
      "div",
      { class: "beside" },
      groups.map((group) => answerColumn(item, group, only(group))),
    ),
  );
};
const answerColumn = (item, { label, rows, filters }, only) => {
  const entries = h("ul", { class: "cards" });
  const more = button("Show more", () => add());
  const add = () => {
    const start = entries.children.length;
    entries.append(
      ...Array.from(rows.subarray(start, start + COLUMN_AT_ONCE), (row) => columnCard(item, row, only)),
    );
    more.hidden = entries.children.length >= rows.length;
    if (start) entries.children[start]?.querySelector("a")?.focus();
  };
  add();
  return h(
    "section",
    {},
    h("h3", {}, bdi(label)),
    h("p", { class: "hint" }, link(addressOf("answers", filters), countText(rows))),
    entries,
    more,
  );
};
const columnCard = (item, row, only) => {
  const places = !isLettered(item) ? optionsOf(row) : [column.letter[row]];
  const reading = isRead(row)
    ? h(
        "ul",
        { class: "options" },
        places.map((place) =>
          h(
            "li",
            { dir: "auto", class: only.has(place) ? "only" : null },
            optionWords(item, place),
            only.has(place) ? h("span", { class: "sign" }, " only here") : null,
          ),
        ),
      )
    : h("p", { class: "reading none" }, readingText(row));
  return h(
    "li",
    { class: "card" },
    h(
      "p",
      { class: "about" },
      link(answerAddress(row), bdi(shortId(userLabel(row))), `, repeat ${column.replicate[row]}`),
    ),
    later(detailOf(row), (detail) => replyText(detail, 500)),
    reading,
  );
};
