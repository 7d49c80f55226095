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
      picture.style.minWidth = `${Math.round(Math.min(printed, 560))}px`;
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
const notices = () => [
  study.missing?.length
    ? h(
        "section",
        { class: "note warning", "aria-label": "What is missing" },
        h("p", {}, h("strong", {}, "This study is not complete.")),
        list(study.missing.map((text) => said(text, "span"))),
      )
    : null,
  study.withheld?.length
    ? h(
        "section",
        { class: "note", "aria-label": "What is withheld" },
        h("p", {}, h("strong", {}, "Not everything is in this page.")),
        list(study.withheld.map((text) => said(text, "span"))),
      )
    : null,
];
// the findings in short stand before the figures, the rest of them after
const wireFindings = () => {
  const findings = byId("start-findings");
  findings.querySelectorAll("table").forEach((node, i) => {
    const frame = scroller(`Table ${i + 1} of the findings`);
    node.replaceWith(frame);
    frame.append(node);
  });
  const short = findings.querySelector("#in-short");
  let next = short?.nextElementSibling;
  while (next && next.tagName !== short.tagName) next = next.nextElementSibling;
  if (!next) return;
  const rest = h("section", { class: "findings", "aria-label": "All findings" });
  byId("start-figures").after(rest);
  while (next) {
    const node = next;
    next = node.nextElementSibling;
    rest.append(node);
  }
};
const wireStudy = () => {
  byId("notices").append(...notices().filter(Boolean));
  byId("study-facts").append(studyFacts());
  if (study.report && !/^[a-z][a-z0-9+.-]*:/i.test(study.report)) {
    byId("study-report").append(
      "How every number was made is in the ",
      link(study.report, "Snakemake report"),
      ".",
    );
  }
  wireFindings();
  document.querySelectorAll("figure[id^='figure-']").forEach(wireFigure);
};
