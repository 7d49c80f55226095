// One question: its prompt, and the shares of its options by condition, for each model.
const DEFAULT_BASE = "counted";
const baseField = () =>
  selectField("base", "Which answers", () =>
    [...BASE_WORDS].map(([name, words]) => [name === DEFAULT_BASE ? "" : name, words]),
  );
const questionView = {
  title(filters) {
    const item = itemOfFilters(filters);
    return item ? `Question ${item.item}` : "Questions";
  },
  build(container) {
    const form = filterForm(
      "Filters",
      [
        FIELDS.task(),
        FIELDS.item(),
        FIELDS.model(),
        baseField(),
        ticksField("condition", "Conditions (all when none is ticked)", conditionOptions),
      ],
      (filters) => go(addressOf("question", filters)),
    );
    const results = h("div");
    container.append(form.node, results);
    return (filters) => {
      form.show(filters);
      const item = itemOfFilters(filters);
      if (!item) {
        put(
          results,
          filters.get("item")
            ? note("This study has no such question.")
            : questionList("question", filters),
        );
        return;
      }
      put(
        results,
        promptBox(item),
        h(
          "p",
          { class: "buttons" },
          h(
            "a",
            {
              class: "button",
              href: addressOf("compare", {
                task: item.task,
                item: item.item,
                model: filters.get("model"),
              }),
            },
            "Compare its answers",
          ),
        ),
        h(
          "p",
          { class: "hint" },
          !isLettered(item)
            ? "A share says how many of the answers name the option. A link leads to these answers."
            : "A share says how many of the answers give the letter. A link leads to these answers.",
        ),
        sharesByModel(item, filters),
      );
    };
  },
};
const conditionPlacesOf = (filters) => {
  const names = filters.getAll("condition");
  const all = study.conditions.map((_, place) => place);
  return names.length ? all.filter((place) => names.includes(study.conditions[place].name)) : all;
};
const sharesByModel = (item, filters) => {
  const base = filters.get("base") || DEFAULT_BASE;
  const task = item.task;
  const rows = selectRows(
    new URLSearchParams([
      ["task", task],
      ["item", item.item],
      ["base", base],
    ]),
  );
  const wished = filters.getAll("model");
  const cells = new Map();
  for (const row of rows) {
    const key = column.model[row] * study.conditions.length + column.condition[row];
    if (!cells.has(key)) cells.set(key, nothing());
    addRow(cells.get(key), row, !isLettered(item));
  }
  const tables = study.models.flatMap((model, m) => {
    if (wished.length && !wished.includes(model.name)) return [];
    const groups = conditionPlacesOf(filters).map((c) => ({
      label: conditionLabel(c),
      tally: cells.get(m * study.conditions.length + c) ?? nothing(),
      filters: { model: model.name, task, item: item.item, condition: study.conditions[c].name, base },
    }));
    if (!groups.some((group) => group.tally.n)) return [];
    return [
      h(
        "section",
        {},
        h("h2", { dir: "auto" }, modelLabel(m)),
        model.note ? said(model.note, "p", { class: "hint" }) : null,
        shareTable(item, groups, `Shares of options, ${modelLabel(m)}`),
      ),
    ];
  });
  return tables.length ? h("div", {}, tables) : note("No answer is left. Take a filter away.");
};
