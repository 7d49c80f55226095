// The page for raters: four views and one state, which is saved in localStorage where the browser allows it. Nothing is sent.
"use strict";
(async () => {
  const review = JSON.parse(document.getElementById("review").textContent);
  const words = review.texts;
  const { element, fillIn, now, token, say, clearStatus } = answerPage;
  const linkedCode = answerPage.linkedCode(["rater", "PROLIFIC_PID"]);
  const LONGEST_LOOK_S = 3600;

  // ---- the state
  const newState = () => ({
    file: token(), rater: linkedCode, consented: null, started: null, ended: null, judgements: {}, view: "welcome", index: 0,
  });
  const stateOf = (text) => {
    const saved = JSON.parse(text ?? "null");
    return saved && typeof saved.judgements === "object" ? saved : newState();
  };
  const store = await answerPage.Store.open(`fieldwork:${review.kit}:${linkedCode}`);
  let state = newState();
  try { state = stateOf(store.read()); } catch { /* what is kept there is not ours */ }
  const save = () => {
    // nothing stays on a device before consent, nor after everything was erased
    if (store.write(state.consented ? JSON.stringify(state) : null)) return;
    element("kept").hidden = true;
    element("unsaved").textContent = words.unsaved;
    element("unsaved").hidden = false;
  };
  const hasJudged = () => Object.values(state.judgements).some((one) => one.value);
  window.addEventListener("beforeunload", (event) => {
    if (!store.isOpen && hasJudged()) event.preventDefault();
  });

  // ---- what the rater is given: [section, unit, whether its answers are turned], in order
  const codeOf = (text) => Object.keys(review.raters).find((code) => code.toLowerCase() === text.trim().toLowerCase());
  const slots = () => review.raters[codeOf(state.rater) ?? ""] ?? [];
  const sectionOf = (slot) => review.sections[slot[0]];
  const unitOf = (slot) => review.units[slot[0]][slot[1]];
  const judgementOf = (index) => state.judgements[index] ?? {};
  const setJudgement = (index, change) => {
    state.judgements[index] = { ...judgementOf(index), ...change };
    save();
  };
  const wantsWhy = (index) => {
    const { why } = sectionOf(slots()[index]);
    return Boolean(why) && why.after.includes(judgementOf(index).value);
  };
  const isJudged = (index) => Boolean(judgementOf(index).value) && (!wantsWhy(index) || Boolean(judgementOf(index).why));
  const nJudged = () => slots().filter((_, index) => isJudged(index)).length;

  // ---- the time that a unit is looked at, without that in other tabs
  let lookingSince = null;
  const stopLooking = () => {
    if (lookingSince === null || state.view !== "judging") return;
    const seconds = (judgementOf(state.index).seconds ?? 0) + (performance.now() - lookingSince) / 1000;
    lookingSince = null;
    if (slots().length) setJudgement(state.index, { seconds: Math.min(seconds, LONGEST_LOOK_S) });
  };
  const startLooking = () => { lookingSince = document.hidden ? null : performance.now(); };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stopLooking();
    else if (state.view === "judging") startLooking();
  });
  window.addEventListener("pagehide", stopLooking);

  // ---- views
  const views = ["welcome", "about", "judging", "finish"];
  const show = (view, { focus = true } = {}) => {
    stopLooking();
    const isKnown = slots().length > 0;
    state.view = !state.consented ? "welcome" : !isKnown && view !== "welcome" ? "about" : view;
    clearStatus();
    answerPage.showView(views, state.view);
    if (state.view === "judging") showUnit();
    if (state.view === "finish") showFinish();
    save();
    if (focus) {
      element(`${state.view}-title`).focus();
      window.scrollTo(0, 0);
    }
  };
  const setPart = (id, text) => {
    element(`${id}-part`).hidden = !text;
    element(id).textContent = text ?? "";
  };
  const showUnit = () => {
    const slot = slots()[state.index];
    const [section, unit] = [sectionOf(slot), unitOf(slot)];
    element("judging-title").textContent = fillIn(words.unit_n, { n: state.index + 1, total: slots().length });
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
    const judgement = judgementOf(state.index);
    listOptions("option", section.options, judgement.value, { keys: true });
    if (section.why) {
      element("why-title").textContent = section.why.question;
      listOptions("why", section.why.options, judgement.why);
    }
    element("note").value = judgement.note ?? "";
    element("next").textContent = state.index + 1 < slots().length ? words.next : words.to_finish;
    showProgress();
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
  const setText = (id, text) => { if (element(id).textContent !== text) element(id).textContent = text; };
  const showProgress = () => {
    const [judged, total] = [nJudged(), slots().length];
    setText("progress", fillIn(words.progress, { judged, total }));
    element("bar").style.width = `${(100 * judged) / Math.max(total, 1)}%`;
    element("why").hidden = !wantsWhy(state.index);
    element("why-list").querySelectorAll("input").forEach((radio) => { radio.disabled = element("why").hidden; });
  };
  const showFinish = () => {
    state.ended ??= now();
    element("counted").textContent = fillIn(words.counted, { judged: nJudged(), total: slots().length });
    const missing = slots().map((_, index) => index).filter((index) => !isJudged(index));
    element("left").hidden = missing.length === 0;
    element("left-list").replaceChildren(...missing.map((index) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button", className: "side", textContent: fillIn(words.unit_i, { n: index + 1 }),
      });
      button.addEventListener("click", () => goTo(index));
      const line = document.createElement("li");
      line.append(button);
      return line;
    }));
  };
  const goTo = (index) => {
    stopLooking();
    state.index = Math.max(0, Math.min(index, slots().length - 1));
    show("judging");
  };

  // ---- the file that a rater saves: a row for each judgement, with the option as it was shown
  const side = (slot) => unitOf(slot).orders[slot[2]];
  const rows = () => slots().flatMap((slot, index) => {
    const [section, judgement] = [sectionOf(slot), judgementOf(index)];
    const row = (scale, value, seconds, note) => [
      codeOf(state.rater), section.name, unitOf(slot).code, scale, value, side(slot), seconds, note, index + 1,
      state.started ?? "", state.ended ?? "", review.kit,
    ];
    const seconds = judgement.seconds === undefined ? "" : judgement.seconds.toFixed(1);
    const first = row(section.scale, judgement.value ?? "", seconds, (judgement.note ?? "").trim());
    return wantsWhy(index) && judgement.why ? [first, row(section.why.scale, judgement.why, "", "")] : [first];
  });

  // ---- buttons and keys
  element("consent-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.consented ??= now();
    show(slots().length && linkedCode ? "judging" : "about");
  });
  const fillAbout = () => {
    element("agree").checked = Boolean(state.consented);
    element("rater").value = state.rater;
    element("rater").readOnly = linkedCode !== "" && codeOf(linkedCode) !== undefined;
  };
  element("about-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const rater = element("rater").value.trim();
    if (codeOf(rater) !== codeOf(state.rater)) state.judgements = {};
    state.rater = rater;
    const problem = codeOf(rater) === undefined ? words.unknown_code : "";
    element("rater-problem").textContent = problem;
    if (problem) {
      element("rater").focus();
      return;
    }
    goTo(state.index);
  });
  document.querySelectorAll("[data-go]").forEach((button) =>
    button.addEventListener("click", () => show(button.dataset.go)));
  element("judgement-form").addEventListener("input", (event) => {
    const { name, value, id } = event.target;
    state.started ??= now();
    if (name === "option") setJudgement(state.index, { value });
    if (name === "why") setJudgement(state.index, { why: value });
    if (id === "note") setJudgement(state.index, { note: value });
    showProgress();
  });
  const goOn = () => (state.index + 1 < slots().length ? goTo(state.index + 1) : show("finish"));
  element("judgement-form").addEventListener("submit", (event) => {
    event.preventDefault();
    goOn();
  });
  element("previous").addEventListener("click", () => (state.index > 0 ? goTo(state.index - 1) : show("about")));
  document.addEventListener("keydown", (event) => {
    const isWriting = ["TEXTAREA", "INPUT"].includes(event.target.tagName) && event.target.type !== "radio";
    if (state.view !== "judging" || isWriting || event.altKey || event.ctrlKey || event.metaKey) return;
    const radios = [...element("option-list").querySelectorAll("input")];
    const radio = /^[1-9]$/.test(event.key) ? radios[Number(event.key) - 1] : undefined;
    if (!radio) return;
    event.preventDefault();
    radio.click();
    radio.focus();
  });
  element("return").addEventListener("click", () => goTo(slots().length - 1));
  element("csv").addEventListener("click", () => {
    // never the rater's code, because tables keep the names of files
    const name = `judgements_${state.file}.csv`;
    answerPage.download(answerPage.csv([review.columns, ...rows()]), "text/csv", name);
    say(fillIn(words.downloaded, { file: name }));
  });
  element("erase").addEventListener("click", () => element("sure").showModal());
  element("sure").addEventListener("close", () => {
    if (element("sure").returnValue !== "yes") return;
    element("sure").returnValue = "";
    store.erase();
    lookingSince = null;
    state = newState();
    fillAbout();
    show("welcome");
    say(words.erased);
  });
  store.onChange((text) => {
    state = stateOf(text);
    fillAbout();
    show(state.view, { focus: false });
  });

  fillAbout();
  const isReturning = state.consented !== null;
  show(state.view, { focus: isReturning });
  if (isReturning) say(words.welcome_back);
})();
