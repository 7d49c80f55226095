// Rows of answers: one in a list, its reading, and lists of any length of which only a window exists.
const rowAddress = { list: null, filters: "" };
const userLabel = (row) => puppetOf(row) ?? "without a user";
// ids of users are often hashes, of which a beginning is enough where many rows are shown
const shortId = (id) => (id.length > 18 ? `${id.slice(0, 10)}…` : id);
const aboutRow = (row, shorten = (id) => id) => [
  bdi(conditionLabel(column.condition[row])),
  " · ",
  bdi(`${itemOf(row).task} / ${itemOf(row).item}`),
  " · ",
  bdi(shorten(userLabel(row))),
  " · ",
  bdi(modelLabel(column.model[row])),
];
const readingText = (row) => {
  const reading = readingOf(row);
  if (reading) return reading.join(" · ");
  return REASON_WORDS.get(reasonOf(row)) ?? reasonOf(row) ?? "Nothing could be read.";
};
const badges = (row) =>
  [...DOUBTS.values()]
    .filter(({ bit }) => column.doubt[row] & bit)
    .map(({ label, text }) => h("span", { class: "badge", title: text }, label));

// the part of a text around a word that was searched for, with the word marked
const snippet = (text, word) => {
  if (!word) return [oneLine(text, 300)];
  const place = text.toLowerCase().indexOf(word.toLowerCase());
  if (place < 0) return [oneLine(text, 300)];
  const start = Math.max(0, place - 60);
  const end = place + word.length;
  return [
    start > 0 ? "…" : "",
    text.slice(start, place).replace(/\s+/g, " "),
    h("mark", {}, text.slice(place, end)),
    text.slice(end, end + 240).replace(/\s+/g, " "),
  ];
};
const rowLink = (row, place, total, word) => {
  const text = h("span", { class: "reply", dir: "auto" }, "…");
  const node = h(
    "a",
    { class: "row", href: answerAddress(row) },
    h("span", { class: "about", dir: "auto" }, aboutRow(row, shortId)),
    text,
    h("span", { class: isRead(row) ? "reading" : "reading none", dir: "auto" }, readingText(row)),
  );
  return {
    node: h("li", { "aria-setsize": total, "aria-posinset": place + 1 }, node),
    fill: () =>
      detailOf(row).then(
        (detail) => {
          if (detail.text === null || detail.text === undefined)
            text.textContent = "(no text in this page)";
          else if (detail.text === "") text.textContent = "(empty)";
          else put(text, snippet(detail.text, word));
          if (correctionsOf(row, detail).length) {
            node.querySelector(".about").prepend(h("span", { class: "badge pending" }, "corrected here"));
          }
        },
        (error) => {
          text.textContent = error.message;
        },
      ),
  };
};

// A list of which only what is near the window is in the document. Its entries have one height.
const MOST_LISTED = 250000;
const windowedList = ({ total, label, entry }) => {
  const listed = Math.min(total, MOST_LISTED);
  const box = h("ol", { class: "window", "aria-label": label });
  const shown = new Map();
  let height = 0;
  let fillTimer;
  const measure = () => {
    height = 5.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    box.style.height = `${listed * height}px`;
    for (const [place, { node }] of shown) node.style.top = `${place * height}px`;
  };
  const range = () => {
    const { top } = box.getBoundingClientRect();
    return [
      Math.max(0, Math.floor(-top / height) - 6),
      Math.min(listed, Math.ceil((window.innerHeight - top) / height) + 6),
    ];
  };
  const focusedPlace = () => {
    const entryOfFocus = document.activeElement?.closest("li[data-place]");
    return entryOfFocus && box.contains(entryOfFocus) ? Number(entryOfFocus.dataset.place) : null;
  };
  const draw = () => {
    if (!box.isConnected) return;
    const [first, end] = range();
    const places = new Set();
    for (let place = first; place < end; place += 1) places.add(place);
    // The entry that has the focus and its neighbours stay, else the keyboard would lose its place: keys
    // that are held down come before the window has scrolled.
    const focused = focusedPlace();
    if (focused !== null)
      for (let place = Math.max(0, focused - 6); place < Math.min(listed, focused + 7); place += 1)
        places.add(place);
    for (const [place, { node }] of shown) {
      if (!places.has(place)) {
        node.remove();
        shown.delete(place);
      }
    }
    for (const place of places) {
      if (shown.has(place)) continue;
      const made = entry(place);
      made.node.style.top = `${place * height}px`;
      made.filled = false;
      shown.set(place, made);
      const next = [...box.children].find((child) => Number(child.dataset.place) > place);
      made.node.dataset.place = place;
      box.insertBefore(made.node, next ?? null);
    }
    clearTimeout(fillTimer);
    fillTimer = setTimeout(fill, 60);
  };
  const fill = () => {
    for (const made of shown.values()) {
      if (!made.filled) made.fill?.();
      made.filled = true;
    }
  };
  box.addEventListener("focusin", draw);
  const focus = (place) => {
    if (place < 0 || place >= listed) return;
    const { top } = box.getBoundingClientRect();
    const y = top + place * height;
    if (y < 120 || y + height > window.innerHeight - 20) window.scrollBy(0, y - window.innerHeight / 3);
    draw();
    shown.get(place)?.node.querySelector("a, button")?.focus({ preventScroll: true });
  };
  const step = (by) => {
    const focused = focusedPlace();
    const [first] = range();
    focus(focused === null ? Math.min(first + 6, first === 0 ? 0 : listed - 1) : focused + by);
  };
  const start = () => {
    measure();
    draw();
  };
  const part =
    total > listed ? note(`The first ${count(listed)} are listed. A filter shows the rest.`) : null;
  return { node: h("div", {}, part, box), start, draw, step, measure };
};
let currentList = null;
const showList = (container, made) => {
  put(container, made.node);
  currentList = made;
  made.start();
};
window.addEventListener("scroll", () => currentList?.draw(), { passive: true });
window.addEventListener("resize", () => {
  currentList?.measure();
  currentList?.draw();
});
const answerList = (rows, word = "") =>
  windowedList({
    total: rows.length,
    label: "Answers",
    entry: (place) => rowLink(rows[place], place, rows.length, word),
  });
