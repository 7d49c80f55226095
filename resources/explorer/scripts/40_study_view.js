// The start: findings and figures, which Python wrote into the page. Each mark of a figure is a way in.
const tip = byId("tip");
const hideTip = () => {
  tip.hidden = true;
};
const showTip = (node, text) => {
  tip.textContent = text;
  tip.hidden = false;
  const box = node.getBoundingClientRect();
  const width = tip.offsetWidth;
  const left = Math.max(
    8,
    Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - 8),
  );
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 0 ? above : box.bottom + 8}px`;
};
const isInside = (address) => typeof address === "string" && address.startsWith("#/");
const number = (value) => {
  if (value === null || value === undefined) return "n/a";
  return Number.isInteger(value) ? count(value) : Number(value.toPrecision(3)).toString();
};
const interval = (mark) =>
  mark.low === null || mark.low === undefined ? "–" : `${number(mark.low)} to ${number(mark.high)}`;
const markTable = (marks, label) =>
  scroller(
    `Numbers of ${label}`,
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Mark", "Value", "95 % interval", "n"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        marks.map((mark) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              isInside(mark.address)
                ? h("a", { href: mark.address, dir: "auto" }, mark.text)
                : said(mark.text, "span"),
            ),
            h("td", { class: "number" }, number(mark.value)),
            h("td", { class: "number" }, interval(mark)),
            h("td", { class: "number" }, number(mark.n)),
          ),
        ),
      ),
    ),
  );
// one stop of the Tab key for a figure; arrow keys go from mark to mark
const MARK_STEPS = new Map([
  ["ArrowRight", 1],
  ["ArrowDown", 1],
  ["ArrowLeft", -1],
  ["ArrowUp", -1],
  ["Home", -Infinity],
  ["End", Infinity],
]);
const stepThrough = (nodes) => {
  nodes.forEach((node, place) => {
    node.setAttribute("tabindex", place ? "-1" : "0");
    node.addEventListener("focus", () => {
      nodes.forEach((other) => other.setAttribute("tabindex", other === node ? "0" : "-1"));
    });
    node.addEventListener("keydown", (event) => {
      if (!MARK_STEPS.has(event.key)) return;
      event.preventDefault();
      const target = Math.max(0, Math.min(nodes.length - 1, place + MARK_STEPS.get(event.key)));
      nodes[target].focus();
    });
  });
};
const wireFigure = (figure) => {
  const name = figure.id.replace(/^figure-/, "");
  const title = study.figures.find((entry) => entry.name === name)?.title ?? name;
  const marks = new Map((study.marks?.[name] ?? []).map((mark) => [String(mark.number), mark]));
  const picture = figure.querySelector("svg");
  if (picture) {
    // a picture whose parts are links is a group, since the parts of an image are not read out
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", `Figure ${title}`);
    const frame = scroller(`Figure ${title}`);
    frame.classList.add("picture");
    picture.replaceWith(frame);
    frame.append(picture);
    // never so small that marks cannot be hit, and not much larger than it is printed
    const { width } = picture.viewBox.baseVal;
    const printed = (4 / 3) * width;
    if (width) {
      picture.style.minWidth = `${Math.round(Math.min(printed, 520))}px`;
      picture.style.maxWidth = `${Math.round(1.4 * printed)}px`;
    }
  }
  const nodes = [...figure.querySelectorAll("[id^='mark-']")];
  for (const node of nodes) {
    const text = marks.get(node.id.split("-").at(-1))?.text ?? node.querySelector("title")?.textContent;
    if (!text) continue;
    // the page's own words on hover instead of the browser's
    node.querySelectorAll("title").forEach((words) => words.remove());
    node.setAttribute("aria-label", text);
    node.addEventListener("pointerenter", () => showTip(node, text));
    node.addEventListener("focus", () => showTip(node, text));
    node.addEventListener("pointerleave", hideTip);
    node.addEventListener("blur", hideTip);
  }
  stepThrough(nodes);
  if (marks.size) {
    figure.append(
      disclosure(`Numbers of this figure as a table (${count(marks.size)})`, () =>
        markTable([...marks.values()], `figure ${title}`),
      ),
    );
  }
};
const studyFacts = () =>
  facts([
    ["Answers", count(study.counts.answers)],
    ["Models", study.models.map(labelOf).join(", ")],
    ["Conditions", study.conditions.map(labelOf).join(", ")],
    ["Questions", count(study.items.length)],
    ["Contexts", count(study.counts.contexts)],
    ["Version of the answers", study.version],
  ]);
const notice = (texts, kind, label, words) =>
  texts?.length
    ? [
        h(
          "section",
          { class: `note ${kind}`, "aria-label": label },
          h("p", {}, h("strong", {}, words)),
          list(texts.map((text) => said(text, "span"))),
        ),
      ]
    : [];
// the nodes from one heading to the next of its rank
const partOf = (head) => {
  const nodes = [];
  for (let node = head?.nextElementSibling; node; node = node.nextElementSibling) {
    if (node.tagName <= head.tagName && /^H\d$/.test(node.tagName)) break;
    nodes.push(node);
  }
  return nodes;
};
const PERCENTAGE = /^(\d+(?:\.\d+)?) %$/;
// a question's table: shares get bars, the way of asking heads its row, what differs stands out
const wireQuestion = (node) => {
  node.classList.add("answers");
  for (const row of node.tBodies[0].rows) {
    const [first, ...others] = row.cells;
    const head = h("th", { scope: "row" });
    head.append(...first.childNodes);
    first.replaceWith(head);
    if (row.querySelector("strong")) row.classList.add("differs");
    for (const cell of others) {
      const share = PERCENTAGE.exec(cell.textContent.trim());
      if (share) cell.append(shareBar(share[1] / 100));
    }
  }
};
const questionCards = (head) => {
  const cards = [];
  for (const title of partOf(head).filter((node) => node.tagName === "H3")) {
    const parts = partOf(title);
    parts.flatMap((node) => [...node.querySelectorAll("table")]).forEach(wireQuestion);
    const card = h("section", { class: "finding", "aria-label": title.textContent });
    title.before(card);
    card.append(title, ...parts.filter((node) => node.tagName !== "P"));
    cards.push(card);
  }
  return cards;
};
// the first screen: what can be said, beside the question on which answers differ most
const wireFindings = () => {
  const findings = byId("start-findings");
  const questions = findings.querySelector("#question-by-question");
  const cards = questions ? questionCards(questions) : [];
  const short = findings.querySelector("#in-short");
  if (short) {
    const words = partOf(short).filter((node) => node.tagName === "UL");
    const opening = h("div", { class: "opening" });
    short.before(opening);
    opening.append(h("div", {}, short, words));
    const picture = cards[0] ?? byId("figure-drift") ?? document.querySelector("figure[id^='figure-']");
    if (picture) opening.append(picture);
    if (cards[0]) {
      const differs = cards[0].querySelector("tr.differs:not(.repeat)");
      const words = differs
        ? "The question on which answers differ most:"
        : "No question differs; this is the first of them:";
      cards[0].prepend(h("p", { class: "hint" }, words));
    }
  }
  const limits = findings.querySelector("#what-this-cannot-say");
  const figures = byId("start-figures");
  if (limits) limits.before(figures);
  // what the labels in figures mean; several conditions may have one phrase only with their labels
  const keys = study.conditions
    .filter((entry) => entry.phrase && !entry.phrase.includes(labelOf(entry)))
    .map((entry) => [h("strong", {}, labelOf(entry)), ` ${entry.phrase}`]);
  if (keys.length && figures.childElementCount) {
    const words = keys.flatMap((key, place) => (place ? ["; ", ...key] : key));
    figures.prepend(h("p", { class: "key" }, "In figures: ", words, "."));
  }
  const tables = findings.querySelector("#tables");
  for (const title of partOf(tables).filter((node) => node.tagName === "H3")) {
    const parts = partOf(title);
    const box = h("details", { id: title.id }, h("summary", {}, title.textContent), parts);
    title.replaceWith(box);
  }
  const phrases = new Map(study.conditions.map((entry) => [labelOf(entry), entry.phrase]));
  for (const cell of findings.querySelectorAll("details td")) {
    const phrase = phrases.get(cell.textContent.trim());
    if (phrase) cell.replaceChildren(h("abbr", { title: phrase }, cell.textContent.trim()));
  }
  findings.querySelectorAll("table").forEach((node, i) => {
    const frame = node.closest(".wide") ?? node;
    const region = scroller(`Table ${i + 1} of the findings`);
    frame.replaceWith(region);
    region.append(node);
  });
};
// a link to a table opens it; so does printing
const openTable = (id) => {
  const box = byId(id);
  if (box?.tagName === "DETAILS") box.open = true;
};
const wireStudy = () => {
  byId("notices").append(
    ...notice(study.missing, "warning", "What is missing", "This study is not complete."),
  );
  byId("withheld").append(
    ...notice(study.withheld, "", "What is withheld", "Not everything is in this page."),
  );
  byId("study-facts").append(studyFacts());
  if (study.report && !/^[a-z][a-z0-9+.-]*:/i.test(study.report)) {
    byId("study-report").append(
      "How every number was made is in the ",
      link(study.report, "Snakemake report"),
      ".",
    );
  }
  wireFindings();
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("#start details").forEach((box) => {
      box.open = true;
    });
  });
  byId("start-findings").addEventListener("click", (event) => {
    const target = event.target.closest?.("a")?.getAttribute("href") ?? "";
    if (target.startsWith("#") && !isInside(target)) openTable(target.slice(1));
  });
  document.querySelectorAll("figure[id^='figure-']").forEach(wireFigure);
};
