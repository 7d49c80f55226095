// Filters as form controls. A change writes the address; the address writes the controls.
const control = (name, label, input, read, show) => ({
  name,
  read,
  show,
  node: h("label", { class: "field" }, h("span", {}, label), input),
});
const selectField = (name, label, optionsOf) => {
  const select = h("select", { name });
  let signature = "";
  const show = (filters) => {
    const options = optionsOf(filters);
    const value = filters.get(name) ?? "";
    // a value that the study does not have stays visible, since it filters
    if (!options.some(([key]) => key === value)) options.push([value, value === "" ? "any" : value]);
    const text = JSON.stringify(options);
    if (text !== signature) {
      put(select, ...options.map(([key, words]) => h("option", { value: key }, words)));
      signature = text;
    }
    select.value = value;
  };
  return control(name, label, select, () => select.value, show);
};
const textField = (name, label, suggestions = null, attributes = {}) => {
  const input = h("input", {
    type: "text",
    name,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    ...attributes,
  });
  const field = control(
    name,
    label,
    input,
    () => input.value.trim(),
    (filters) => {
      input.value = filters.get(name) ?? "";
    },
  );
  if (suggestions) {
    const id = `suggestions-${name}`;
    const names = h("datalist", { id });
    input.setAttribute("list", id);
    input.addEventListener("focus", () =>
      put(
        names,
        ...suggestions()
          .slice(0, 5000)
          .map((value) => h("option", { value })),
      ),
    );
    field.node.append(names);
  }
  return field;
};
const tickField = (name, label) => {
  const input = h("input", { type: "checkbox", name });
  return {
    name,
    node: h("label", { class: "tick" }, input, " ", label),
    read: () => (input.checked ? "yes" : ""),
    show: (filters) => {
      input.checked = filters.get(name) === "yes";
    },
  };
};
// several values of one filter
const ticksField = (name, legend, optionsOf) => {
  const box = h("fieldset", { class: "ticks" });
  const show = (filters) => {
    const values = filters.getAll(name);
    const focused = box.contains(document.activeElement) ? document.activeElement.value : null;
    put(
      box,
      h("legend", {}, legend),
      ...optionsOf(filters).map(([value, label]) => {
        const input = h("input", { type: "checkbox", value });
        input.checked = values.includes(value);
        return h("label", { class: "tick" }, input, " ", h("bdi", {}, label));
      }),
    );
    if (focused !== null) [...box.querySelectorAll("input")].find((i) => i.value === focused)?.focus();
  };
  const read = () => [...box.querySelectorAll("input:checked")].map((input) => input.value);
  return { name, node: box, read, show };
};
const filterForm = (label, fields, onchange) => {
  const form = h(
    "form",
    { class: "filters", "aria-label": label },
    fields.map((field) => field.node),
  );
  let filters = new URLSearchParams();
  const apply = () => {
    const changes = Object.fromEntries(fields.map((field) => [field.name, field.read()]));
    const changed = withFilters(filters, changes);
    if (changed.toString() !== filters.toString()) onchange(dropStrangeItem(changed));
  };
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  const show = (next) => {
    filters = next;
    fields.forEach((field) => field.show(next));
  };
  const box = h("details", { class: "filterbox" }, h("summary", {}, label), form);
  box.open = window.matchMedia("(min-width: 48rem)").matches;
  return { node: box, show };
};
// an item of another task is no filter any more when the task changes
const dropStrangeItem = (filters) => {
  const task = filters.get("task");
  const item = filters.get("item");
  if (task && item && itemPlace(task, item) < 0) filters.delete("item");
  return filters;
};

const ANY = ["", "any"];
const modelOptions =
  (any = true) =>
  () => [...(any ? [ANY] : []), ...study.models.map((model) => [model.name, labelOf(model)])];
const conditionOptions = () => study.conditions.map((condition) => [condition.name, labelOf(condition)]);
const taskOptions = () => [ANY, ...study.tasks.map((task) => [task, task])];
const itemOptions = (filters) => {
  const task = filters.get("task");
  return [
    ANY,
    ...study.items
      .filter((item) => !task || item.task === task)
      .map((item) => [item.item, `${item.item}: ${oneLine(item.question ?? "", 60)}`]),
  ];
};
const FIELDS = {
  model: () => selectField("model", "Model", modelOptions()),
  task: () => selectField("task", "Task", taskOptions),
  item: () => selectField("item", "Question", itemOptions),
  condition: () => selectField("condition", "Condition", () => [ANY, ...conditionOptions()]),
  puppet: () => textField("puppet", "User", () => table.puppets),
  replicate: () => textField("replicate", "Repeat", null, { inputmode: "numeric" }),
  kind: () => selectField("kind", "Kind", () => [
      ANY,
      ["list", "lists"],
      ["choice", "choices"],
      ["scale", "scales"],
      ["number", "numbers"],
      ["text", "texts"],
    ]),
  option: () =>
    textField("option", "Option or letter", () => [...table.names.slice(0, 500), "A", "unknown"]),
  base: () => selectField("base", "Which answers", () => [ANY, ...BASE_WORDS]),
  outcome: () =>
    selectField("outcome", "Outcome", () => [
      ANY,
      ...table.outcomes.map((name) => [name, OUTCOME_WORDS.get(name) ?? name]),
    ]),
  reason: () =>
    selectField("reason", "Why not read", () => [ANY, ...table.reasons.map((name) => [name, name])]),
  doubt: () =>
    selectField("doubt", "Doubt", () => [
      ANY,
      ["any", "any doubt"],
      ...[...DOUBTS].map(([name, { label }]) => [name, label]),
    ]),
};
