// One user: the context as a conversation, and all answers to it.
const conditionsOfUser = (puppet) => {
  const place = table.puppetPlaces.get(puppet) ?? -2;
  const counts = new Map();
  for (let row = 0; row < table.size; row += 1) {
    if (column.puppet[row] === place)
      counts.set(column.condition[row], (counts.get(column.condition[row]) ?? 0) + 1);
  }
  return new Map([...counts].sort((a, b) => a[0] - b[0]));
};
const userView = {
  title: (filters) => (filters.get("puppet") ? `User ${filters.get("puppet")}` : "Users"),
  build(container) {
    const form = filterForm(
      "Which user",
      [
        FIELDS.puppet(),
        selectField("condition", "Condition", (filters) => {
          const own = filters.get("puppet") ? [...conditionsOfUser(filters.get("puppet")).keys()] : [];
          return own.length
            ? own.map((place) => [study.conditions[place].name, conditionLabel(place)])
            : [ANY];
        }),
        FIELDS.task(),
        FIELDS.model(),
      ],
      (filters) => go(addressOf("user", filters)),
    );
    const results = h("div");
    container.append(form.node, results);
    return (filters) => {
      const puppet = filters.get("puppet");
      if (!puppet) {
        form.show(filters);
        put(results, userList());
        return;
      }
      const conditions = conditionsOfUser(puppet);
      if (!conditions.size) {
        form.show(filters);
        put(results, note("This study has no answer to a user of this name."), userList());
        return;
      }
      const wish = conditionPlaces.get(filters.get("condition"));
      const place = conditions.has(wish) ? wish : conditions.keys().next().value;
      form.show(withFilters(filters, { condition: study.conditions[place].name }));
      showUser(results, filters, puppet, place, conditions);
    };
  },
};
const userList = () => {
  const counts = new Int32Array(table.puppets.length);
  for (let row = 0; row < table.size; row += 1)
    if (column.puppet[row] >= 0) counts[column.puppet[row]] += 1;
  if (!table.puppets.length) return note("No answer of this study has a user.");
  return h(
    "section",
    {},
    h("h2", {}, plural(table.puppets.length, "user")),
    pagedList(table.puppets, (puppet) => [
      link(addressOf("user", { puppet }), bdi(puppet)),
      ` ${plural(counts[table.puppetPlaces.get(puppet)], "answer")}`,
    ]),
  );
};
const showUser = (results, filters, puppet, place, conditions) => {
  const condition = study.conditions[place].name;
  const own = withFilters(filters, { condition });
  for (const name of [...own.keys()])
    if (!["puppet", "condition", "task", "model"].includes(name)) own.delete(name);
  const rows = selectRows(own);
  rowAddress.list = rows;
  rowAddress.filters = own.toString();
  const contexts = [...new Set(Array.from(rows, (row) => column.context[row]))].filter(
    (context) => context >= 0,
  );
  const others = [...conditions].filter(([other]) => other !== place);
  const listBox = h("div");
  put(
    results,
    h(
      "p",
      { dir: "auto" },
      "Condition: ",
      h("strong", {}, bdi(conditionLabel(place))),
      others.length
        ? [
            "; also in ",
            others.map(([other, n], i) => [
              i ? ", " : "",
              link(
                addressOf("user", withFilters(filters, { condition: study.conditions[other].name })),
                bdi(conditionLabel(other)),
              ),
              ` (${count(n)})`,
            ]),
          ]
        : null,
    ),
    h("h2", {}, contexts.length > 1 ? `${count(contexts.length)} contexts` : "Context"),
    contextsBox(contexts, rows),
    h("h2", {}, "Answers"),
    h("p", { class: "total" }, countText(rows)),
    comparedQuestions(rows, puppet, condition),
    listBox,
  );
  if (rows.length) showList(listBox, answerList(rows));
};
const contextsBox = (contexts, rows) => {
  if (!contexts.length) {
    return note(CONTEXTS_WITHHELD.get(study.contexts) ?? "No context of this user is in this page.");
  }
  if (contexts.length === 1) return contextBox(contexts[0]);
  // contexts that depend on the question: each behind the questions that it came before
  return h(
    "div",
    {},
    contexts.map((context) => {
      const items = [
        ...new Set(
          Array.from(rows)
            .filter((row) => column.context[row] === context)
            .map((row) => `${itemOf(row).task} / ${itemOf(row).item}`),
        ),
      ];
      return disclosure(
        `Before ${items.slice(0, 5).join(", ")}${items.length > 5 ? " and others" : ""}`,
        () => contextBox(context),
      );
    }),
  );
};
const comparedQuestions = (rows, puppet, condition) => {
  const items = [...new Set(Array.from(rows, (row) => column.item[row]))].map(
    (place) => study.items[place],
  );
  if (!items.length) return null;
  return disclosure("Compare with the baseline, question by question", () =>
    pagedList(items, (item) =>
      link(
        addressOf("compare", { task: item.task, item: item.item, condition, puppet }),
        bdi(`${item.task} / ${item.item}`),
      ),
    ),
  );
};
