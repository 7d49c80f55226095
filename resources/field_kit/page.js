// The survey page: four views and one state, which is saved in localStorage where the browser allows it. Nothing is sent.
"use strict";
(async () => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const words = survey.texts;
  const { element, fillIn, now, shuffled, token, say, clearStatus } = answerPage;
  const linkedCode = answerPage.linkedCode(["PROLIFIC_PID", "participant"]);

  // ---- the state
  // each repeat of a prompt is a slot of its own
  const slots = survey.prompts.length * survey.repeats;
  const newState = () => ({
    file: token(), participant: linkedCode, model: null, groups: {}, consented: null, started: null, ended: null,
    order: shuffled(slots), answers: {}, view: "welcome", index: 0,
  });
  const isOfThisSurvey = (saved) => saved && Array.isArray(saved.order) && saved.order.length === slots;
  const stateOf = (text) => {
    const saved = JSON.parse(text ?? "null");
    return isOfThisSurvey(saved) ? saved : newState();
  };
  const store = await answerPage.Store.open(`fieldwork:${survey.survey}:${linkedCode}`);
  let state = newState();
  try { state = stateOf(store.read()); } catch { /* what is kept there is not ours */ }
  const save = () => {
    // nothing stays on a device before consent, nor after everything was erased
    if (store.write(state.consented ? JSON.stringify(state) : null)) return;
    element("kept").hidden = true;
    element("unsaved").textContent = words.unsaved;
    element("unsaved").hidden = false;
  };
  window.addEventListener("beforeunload", (event) => {
    if (!store.isOpen && Object.values(state.answers).some(Boolean)) event.preventDefault();
  });

  // ---- views
  const views = ["welcome", "about", "prompts", "finish"];
  const show = (view, { focus = true } = {}) => {
    state.view = state.consented ? view : "welcome";
    clearStatus();
    answerPage.showView(views, state.view);
    if (state.view === "prompts") showPrompt();
    if (state.view === "finish") showFinish();
    save();
    if (focus) {
      element(`${state.view}-title`).focus();
      window.scrollTo(0, 0);
    }
  };
  const promptOf = (slot) => survey.prompts[slot % survey.prompts.length];
  const answerOf = (slot) => state.answers[slot] ?? "";
  const isAnswered = (slot) => answerOf(slot).trim() !== "";
  const nAnswered = () => state.order.filter(isAnswered).length;

  const showPrompt = () => {
    const slot = state.order[state.index];
    element("prompts-title").textContent = fillIn(words.prompt_n, { n: state.index + 1, total: slots });
    element("prompt").textContent = promptOf(slot).text;
    element("answer").value = answerOf(slot);
    element("next").textContent = state.index + 1 < slots ? words.next : words.to_finish;
    const before = state.order.slice(0, state.index).map(promptOf);
    element("repeated").hidden = !before.includes(promptOf(slot));
    remark();
  };
  const setText = (id, text) => { if (element(id).textContent !== text) element(id).textContent = text; };
  const remark = () => {
    const slot = state.order[state.index];
    const answered = nAnswered();
    setText("progress", fillIn(words.progress, { answered, total: slots }));
    const same = answerOf(slot).trim() === promptOf(slot).text.trim();
    setText("remark", same ? words.same_as_prompt : "");
    element("bar").style.width = `${(100 * answered) / slots}%`;
  };
  const showFinish = () => {
    state.ended ??= now();
    element("counted").textContent = fillIn(words.counted, { answered: nAnswered(), total: slots });
    const missing = state.order.map((slot, i) => [slot, i]).filter(([slot]) => !isAnswered(slot));
    element("left").hidden = missing.length === 0;
    element("left-list").replaceChildren(...missing.map(([, i]) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button", className: "side", textContent: fillIn(words.prompt_i, { n: i + 1 }),
      });
      button.addEventListener("click", () => goTo(i));
      const line = document.createElement("li");
      line.append(button);
      return line;
    }));
  };
  const goTo = (index) => {
    state.index = Math.max(0, Math.min(index, slots - 1));
    show("prompts");
  };

  // ---- the form about the participant
  const fillAbout = () => {
    element("agree").checked = Boolean(state.consented);
    element("participant").value = state.participant;
    element("participant").readOnly = linkedCode !== "";
    document.querySelectorAll("#about input[type=radio]").forEach((radio) => {
      const chosen = radio.name === "model" ? state.model : state.groups[radio.dataset.variable];
      radio.checked = chosen !== undefined && radio.value === chosen;
    });
  };
  element("about").addEventListener("input", () => {
    state.participant = element("participant").value.trim();
    document.querySelectorAll("#about input[type=radio]:checked").forEach((radio) => {
      if (radio.name === "model") state.model = radio.value;
      else state.groups[radio.dataset.variable] = radio.value;
    });
    save();
  });

  // ---- copying: two ways, and then the participant does it by hand
  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
      document.body.append(area);
      area.select();
      let done = false;
      try { done = document.execCommand("copy"); } catch { done = false; }
      area.remove();
      return done;
    }
  };
  element("copy").addEventListener("click", async () => {
    const done = await copyText(promptOf(state.order[state.index]).text);
    element("copy").focus();
    if (!done) getSelection().selectAllChildren(element("prompt"));
    say(done ? words.copied : words.copy_yourself);
  });

  // ---- the two files that a participant can save, with the same answers
  const platform = () => survey.platforms.find(([model]) => model === state.model) ?? ["", ""];
  const rows = () => state.order.map((slot, i) => [
    state.participant, platform()[1], platform()[0], promptOf(slot).key, i + 1, answerOf(slot),
    ...survey.variables.map((variable) => state.groups[variable] ?? ""),
    state.started ?? "", state.ended ?? "", survey.survey,
  ]);
  const csv = () => answerPage.csv([survey.columns, ...rows()]);
  const json = () => JSON.stringify({
    format: "fieldwork-survey-1", study: survey.study, survey: survey.survey, participant: state.participant,
    platform: platform()[1], model: platform()[0], groups: state.groups, consented: state.consented,
    started: state.started, ended: state.ended,
    answers: state.order.map((slot, i) => ({
      prompt: promptOf(slot).key, position: i + 1, asked: promptOf(slot).text, answer: answerOf(slot),
    })),
  }, null, 1);
  const download = (text, kind, suffix) => {
    // never the participant's code, because tables keep the names of files
    const name = `answers_${state.file}.${suffix}`;
    answerPage.download(text, kind, name);
    say(fillIn(words.downloaded, { file: name }));
  };

  // ---- buttons
  element("consent-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.consented ??= now();
    show("about");
  });
  element("about-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.started ??= now();
    goTo(state.index);
  });
  document.querySelectorAll("[data-go]").forEach((button) =>
    button.addEventListener("click", () => show(button.dataset.go)));
  element("answer").addEventListener("input", () => {
    state.answers[state.order[state.index]] = element("answer").value;
    remark();
    save();
  });
  element("previous").addEventListener("click", () => (state.index > 0 ? goTo(state.index - 1) : show("about")));
  element("next").addEventListener("click", () => (state.index + 1 < slots ? goTo(state.index + 1) : show("finish")));
  element("return").addEventListener("click", () => goTo(slots - 1));
  element("csv").addEventListener("click", () => download(csv(), "text/csv", "csv"));
  element("json").addEventListener("click", () => download(json(), "application/json", "json"));
  element("erase").addEventListener("click", () => element("sure").showModal());
  element("sure").addEventListener("close", () => {
    if (element("sure").returnValue !== "yes") return;
    element("sure").returnValue = "";
    store.erase();
    state = newState();
    element("answer").value = "";
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
