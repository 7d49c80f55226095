// Addresses of views, and the rows that their filters leave. The address is the page's only state.
const addressOf = (view, filters = {}) => {
  const pairs = [];
  const entries = filters instanceof URLSearchParams ? filters.entries() : Object.entries(filters);
  for (const [name, values] of entries) {
    for (const value of [values].flat()) {
      if (value === null || value === undefined || value === "") continue;
      pairs.push(`${name}=${encodeURIComponent(wellFormed(String(value)))}`);
    }
  }
  return `#/${view}${pairs.length ? `?${pairs.join("&")}` : ""}`;
};
const parseAddress = (fragment) => {
  const [path, ...rest] = fragment.replace(/^#\/?/, "").split("?");
  return { view: path || "study", filters: new URLSearchParams(rest.join("?")) };
};
const go = (address) => {
  location.hash = address;
};
const withFilters = (filters, changes) => {
  const changed = new URLSearchParams(filters);
  for (const [name, values] of Object.entries(changes)) {
    changed.delete(name);
    for (const value of [values].flat()) {
      if (value !== null && value !== undefined && value !== "") changed.append(name, value);
    }
  }
  return changed;
};
const answerAddress = (row) =>
  addressOf("answer", {
    model: study.models[column.model[row]].name,
    task: itemOf(row).task,
    condition: study.conditions[column.condition[row]].name,
    item: itemOf(row).item,
    puppet: puppetOf(row),
    replicate: column.replicate[row],
  });

// ---- filters: each becomes a table of the values that pass, so that a row costs a few look-ups
const allowed = (length, values, placeOf) => {
  if (!values.length) return null;
  const pass = new Uint8Array(length + 1);
  for (const value of values) {
    const place = placeOf(value);
    if (place !== undefined && place >= 0) pass[place] = 1;
  }
  return pass;
};
const allowedItems = (filters) => {
  const tasks = filters.getAll("task");
  const ids = filters.getAll("item");
  const kinds = filters.getAll("kind");
  if (!tasks.length && !ids.length && !kinds.length) return null;
  const passes = (values, value) => !values.length || values.includes(value);
  return Uint8Array.from(study.items, (item) =>
    Number(passes(tasks, item.task) && passes(ids, item.item) && passes(kinds, item.kind)),
  );
};
const optionTest = (option) => {
  const name = table.namePlaces.get(option) ?? -1;
  const letter = option === "unknown" ? -1 : letterPlace(option);
  const { optionStarts, optionValues } = column;
  const listItem = Uint8Array.from(study.items, (item) => Number(!isLettered(item)));
  return (row) => {
    if (!listItem[column.item[row]]) return column.letter[row] === letter;
    for (let k = optionStarts[row]; k < optionStarts[row + 1]; k += 1) {
      if (optionValues[k] === name) return true;
    }
    return false;
  };
};
const bitsOf = (values, words) => values.reduce((bits, value) => bits | (words(value) ?? 1 << 30), 0);
const selectRows = (filters) => {
  const bits = bitsOf(filters.getAll("base"), (value) => BASES.get(value));
  const doubts = bitsOf(filters.getAll("doubt"), (value) =>
    value === "any" ? 63 : DOUBTS.get(value)?.bit,
  );
  const tests = [
    ["item", allowedItems(filters)],
    ["model", allowed(study.models.length, filters.getAll("model"), (v) => modelPlaces.get(v))],
    [
      "condition",
      allowed(study.conditions.length, filters.getAll("condition"), (v) => conditionPlaces.get(v)),
    ],
    ["puppet", allowed(table.puppets.length, filters.getAll("puppet"), (v) => table.puppetPlaces.get(v))],
    [
      "outcome",
      allowed(table.outcomes.length, filters.getAll("outcome"), (v) => table.outcomePlaces.get(v)),
    ],
    ["reason", allowed(table.reasons.length, filters.getAll("reason"), (v) => table.reasonPlaces.get(v))],
  ]
    .filter(([, pass]) => pass)
    .map(([name, pass]) => ({ values: column[name], pass }));
  const isCounted = filters.getAll("base").includes("counted");
  const choiceItem = Uint8Array.from(study.items, (item) => Number(isLettered(item)));
  const replicate = filters.get("replicate");
  const option = filters.has("option") ? optionTest(filters.get("option")) : null;
  const rows = new Int32Array(table.size);
  let n = 0;
  next: for (let row = 0; row < table.size; row += 1) {
    for (let k = 0; k < tests.length; k += 1) {
      // -1, for no puppet or no reason, is no place of a table
      if (tests[k].pass[tests[k].values[row]] !== 1) continue next;
    }
    if (bits && (column.base[row] & bits) !== bits) continue;
    if (isCounted && !choiceItem[column.item[row]] && !(column.base[row] & READ)) continue;
    if (doubts && (column.doubt[row] & doubts) === 0) continue;
    if (replicate !== null && column.replicate[row] !== Number(replicate)) continue;
    if (option && !option(row)) continue;
    rows[n] = row;
    n += 1;
  }
  return rows.subarray(0, n);
};
const nRead = (rows) => {
  let n = 0;
  for (let i = 0; i < rows.length; i += 1) n += (column.base[rows[i]] & READ) / READ;
  return n;
};
const countText = (rows) => `${plural(rows.length, "answer")}, ${count(nRead(rows))} read`;

// ---- ten at random: the seed is in the address, so that a link shows the same ten
const seededDraws = (seed) => {
  let state = 2166136261;
  for (const sign of seed) state = Math.imul(state ^ sign.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
};
const randomRows = (rows, seed, n = 10) => {
  const draw = seededDraws(`${study.version}:${seed}`);
  const order = Array.from(rows);
  const drawn = Math.min(n, order.length);
  for (let i = 0; i < drawn; i += 1) {
    const j = i + Math.floor(draw() * (order.length - i));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.slice(0, drawn);
};
