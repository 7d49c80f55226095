// What raters are asked: units one by one, each with the options of its question.
"use strict";
answerPage.start((page) => {
  const { element, now } = answerPage;
  const { data: review, words } = page;
  const LONGEST_LOOK_S = 3600;

  // ---- what the rater is given: [section, unit, whether its answers are turned], in order
  const codeOf = (text) => Object.keys(review.raters).find((code) => code.toLowerCase() === text.trim().toLowerCase());
  const slots = () => review.raters[codeOf(page.state.rater) ?? ""] ?? [];
  const sectionOf = (slot) => review.sections[slot[0]];
  const unitOf = (slot) => review.units[slot[0]][slot[1]];
  const judgementOf = (index) => page.state.judgements[index] ?? {};
  const setJudgement = (index, change) => {
    page.state.judgements[index] = { ...judgementOf(index), ...change };
    page.save();
  };
  const wantsWhy = (index) => {
    const { why } = sectionOf(slots()[index]);
    return Boolean(why) && why.after.includes(judgementOf(index).value);
  };
  const isJudged = (index) => Boolean(judgementOf(index).value) && (!wantsWhy(index) || Boolean(judgementOf(index).why));

  // ---- the time that a unit is looked at, without that in other tabs
  let lookingSince = null;
  const stopLooking = () => {
    if (lookingSince === null || page.state.view !== "judging") return;
    const { index } = page.state;
    const seconds = (judgementOf(index).seconds ?? 0) + (performance.now() - lookingSince) / 1000;
    lookingSince = null;
    if (slots().length) setJudgement(index, { seconds: Math.min(seconds, LONGEST_LOOK_S) });
  };
  const startLooking = () => { lookingSince = document.hidden ? null : performance.now(); };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stopLooking();
    else if (page.state.view === "judging") startLooking();
  });
  window.addEventListener("pagehide", stopLooking);

  // ---- a unit
  const setPart = (id, text) => {
    element(`${id}-part`).hidden = !text;
    element(id).textContent = text ?? "";
  };
  const showPiece = (index) => {
    const slot = slots()[index];
    const [section, unit] = [sectionOf(slot), unitOf(slot)];
    element("facts-part").hidden = !unit.facts.length;
    element("facts").replaceChildren(...unit.facts.map((fact) =>
      Object.assign(document.createElement("li"), { textContent: fact })));
    setPart("evidence", unit.evidence);
    setPart("question", unit.question);
    setPart("attribute", unit.attribute);
    const answers = slot[2] ? [...unit.answers].reverse() : unit.answers;
    element("answers-part").hidden = answers.every((text) => text === null);
    element("second-part").hidden = answers[1] === null;
    element("first-title").textContent = answers[1] === null ? words.answer : words.answer_first;
    ["first", "second"].forEach((id, i) => { element(id).textContent = answers[i] ?? ""; });
    element("evidence").scrollTop = 0;
    element("options-title").textContent = section.question;
    const judgement = judgementOf(index);
    listOptions("option", section.options, judgement.value, { keys: true });
    if (section.why) {
      element("why-title").textContent = section.why.question;
      listOptions("why", section.why.options, judgement.why);
    }
    element("note").value = judgement.note ?? "";
    showWhy();
    startLooking();
  };
  const listOptions = (name, options, chosen, { keys = false } = {}) => {
    element(`${name}-list`).replaceChildren(...options.map(([value, text], place) => {
      const label = Object.assign(document.createElement("label"), { className: "tick" });
      const radio = Object.assign(document.createElement("input"), {
        type: "radio", name, value, checked: value === chosen,
      });
      label.append(radio, Object.assign(document.createElement("span"), { textContent: text }));
      if (keys && place < 9) {
        label.append(Object.assign(document.createElement("kbd"), { textContent: place + 1, ariaHidden: "true" }));
      }
      return label;
    }));
  };
  const showWhy = () => {
    element("why").hidden = !wantsWhy(page.state.index);
    element("why-list").querySelectorAll("input").forEach((radio) => { radio.disabled = element("why").hidden; });
  };
  element("judgement-form").addEventListener("input", (event) => {
    const { name, value, id } = event.target;
    page.state.started ??= now();
    if (name === "option") setJudgement(page.state.index, { value });
    if (name === "why") setJudgement(page.state.index, { why: value });
    if (id === "note") setJudgement(page.state.index, { note: value });
    showWhy();
    page.showProgress();
  });
  document.addEventListener("keydown", (event) => {
    const isWriting = ["TEXTAREA", "INPUT"].includes(event.target.tagName) && event.target.type !== "radio";
    if (page.state.view !== "judging" || isWriting || event.altKey || event.ctrlKey || event.metaKey) return;
    const radios = [...element("option-list").querySelectorAll("input")];
    const radio = /^[1-9]$/.test(event.key) ? radios[Number(event.key) - 1] : undefined;
    if (!radio) return;
    event.preventDefault();
    radio.click();
    radio.focus();
  });

  // ---- who it is
  const readAbout = () => {
    const { state } = page;
    const rater = element("rater").value.trim();
    if (codeOf(rater) !== codeOf(state.rater)) state.judgements = {};
    state.rater = rater;
    const isKnown = codeOf(rater) !== undefined;
    element("rater-problem").textContent = isKnown ? "" : words.unknown_code;
    if (!isKnown) element("rater").focus();
    return isKnown;
  };

  // ---- the file that a rater saves: a row for each judgement, with the option as it was shown
  const side = (slot) => unitOf(slot).orders[slot[2]];
  const rows = () => slots().flatMap((slot, index) => {
    const [section, judgement] = [sectionOf(slot), judgementOf(index)];
    const row = (scale, value, seconds, note) => [
      codeOf(page.state.rater), section.name, unitOf(slot).code, scale, value, side(slot), seconds, note, index + 1,
      page.state.started ?? "", page.state.ended ?? "", review.kit,
    ];
    const seconds = judgement.seconds === undefined ? "" : judgement.seconds.toFixed(1);
    const first = row(section.scale, judgement.value ?? "", seconds, (judgement.note ?? "").trim());
    return wantsWhy(index) && judgement.why ? [first, row(section.why.scale, judgement.why, "", "")] : [first];
  });

  return {
    view: "judging",
    person: "rater",
    linkNames: ["rater", "PROLIFIC_PID"],
    digest: review.kit,
    newState: () => ({ judgements: {} }),
    isOfThis: (saved) => typeof saved.judgements === "object",
    total: () => slots().length,
    isDone: isJudged,
    hasAnswers: () => Object.values(page.state.judgements).some((one) => one.value),
    titles: { piece: words.unit_n, link: words.unit_i },
    showPiece,
    fillAbout: () => {
      element("rater").readOnly = page.linkedCode !== "" && codeOf(page.linkedCode) !== undefined;
    },
    readAbout,
    afterConsent: () => (slots().length && page.linkedCode ? "judging" : "about"),
    allowed: (view) => (slots().length || view === "welcome" ? view : "about"),
    leave: stopLooking,
    clear: () => { lookingSince = null; },
    fileName: "judgements",
    files: { csv: { kind: "text/csv", text: () => answerPage.csv([review.columns, ...rows()]) } },
  };
});
