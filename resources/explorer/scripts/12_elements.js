// Elements. Texts of people and models become text nodes only, in the direction of their script.
const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
const put = (node, ...children) => node.replaceChildren(...present(children));
const h = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
};
const byId = (id) => document.getElementById(id);
const button = (text, onclick, attributes) =>
  h("button", { type: "button", class: "side", onclick, ...attributes }, text);
const link = (address, ...children) => h("a", { href: address }, ...children);
// a text within a sentence, kept apart from the direction of the words around it
const bdi = (text) => h("bdi", {}, text);
const said = (text, tag = "p", attributes = {}) => h(tag, { dir: "auto", ...attributes }, text);
const note = (text, kind = "") => h("p", { class: `note ${kind}` }, text);
const list = (nodes, attributes) =>
  h(
    "ul",
    attributes,
    nodes.map((node) => h("li", {}, node)),
  );
const facts = (pairs) =>
  h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, value))),
  );

let statusTimer;
const say = (text) => {
  // emptied first, because a screen reader would not read the same words twice
  clearTimeout(statusTimer);
  byId("status").textContent = "";
  statusTimer = setTimeout(() => {
    byId("status").textContent = text;
    statusTimer = setTimeout(() => {
      byId("status").textContent = "";
    }, 6000);
  }, 30);
};

const BLOCK = 10000;
// where a text is cut into blocks: after a line or a word near a block's end, never within a character
const blockEnd = (text, start) => {
  const end = start + BLOCK;
  if (end >= text.length) return text.length;
  for (const mark of ["\n", " "]) {
    const place = text.lastIndexOf(mark, end);
    if (place > start + BLOCK / 2) return place + 1;
  }
  const isPair = /[\uD800-\uDBFF]/.test(text[end - 1]);
  return isPair ? end - 1 : end;
};
const textBlock = (text) =>
  said(text.endsWith("\n") ? text.slice(0, -1) : text, "div", { class: "block" });

// A text of any length: its beginning, and a button for the rest, which is put in block by block.
const longText = (text, limit = 2500) => {
  const box = h("div", { class: "text" });
  if (text === "") {
    box.append(h("p", { class: "hint" }, "(empty)"));
    return box;
  }
  if (text.length <= limit * 1.2) {
    box.append(textBlock(text));
    return box;
  }
  const beginning = textBlock(cut(text, limit));
  const more = button(`Show all ${count(text.length)} characters`, () => {
    more.remove();
    beginning.remove();
    let start = 0;
    const addBlocks = () => {
      const blocks = [];
      while (start < text.length && blocks.length < 20) {
        const end = blockEnd(text, start);
        blocks.push(textBlock(text.slice(start, end)));
        start = end;
      }
      box.append(...blocks);
      if (start < text.length && box.isConnected) setTimeout(addBlocks, 0);
    };
    addBlocks();
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  box.append(beginning, more);
  return box;
};

// a disclosure whose content is made when it is first opened
const disclosure = (summary, make, attributes) => {
  const box = h("details", attributes, h("summary", {}, summary));
  const fill = () => {
    box.removeEventListener("toggle", fill);
    box.append(make());
  };
  box.addEventListener("toggle", fill);
  return box;
};

// content that waits for a file; what cannot be loaded says so
const later = (promise, make, tag = "div") => {
  const box = h(tag, { "aria-busy": "true" }, h("p", { class: "hint" }, "Loading …"));
  promise
    .then(
      (value) => put(box, make(value)),
      (error) => {
        put(box, note(error.message, "warning"));
      },
    )
    .finally(() => box.removeAttribute("aria-busy"));
  return box;
};

const shareBar = (share) => {
  const fill = h("span");
  fill.style.width = `${(100 * share).toFixed(2)}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, fill);
};
const scroller = (label, ...children) =>
  h("div", { class: "scroller", role: "region", tabindex: "0", "aria-label": label }, ...children);
