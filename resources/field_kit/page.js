// The survey page: four views and one state, which is saved in localStorage where the browser allows it. Nothing is sent.
"use strict";
(async () => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const words = survey.texts;
  const element = (id) => document.getElementById(id);
  const fillIn = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
  const now = () => new Date().toISOString();

  // ---- random draws, from the browser's cryptographic source, without the bias of a modulo
  const below = (n) => {
    const limit = Math.floor(2 ** 32 / n) * n;
    const draws = new Uint32Array(1);
    do crypto.getRandomValues(draws); while (draws[0] >= limit);
    return draws[0] % n;
  };
  const shuffled = (n) => {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i -= 1) {
      const j = below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  };
  const token = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(6)), (b) => b.toString(16).padStart(2, "0")).join("");

  // ---- the state: one for each participant's link, so that two links on one device do not mix
  const query = new URLSearchParams(location.search);
  const linkedCode = (query.get("PROLIFIC_PID") ?? query.get("participant") ?? "").trim().slice(0, 64);
  const storageKey = `fieldwork:${survey.survey}:${linkedCode}`;
  const trialKey = `${storageKey}:trial`;
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
  // Chromium runs the script of a page opened as a file before it knows whose storage that is. Until then it gives an
  // empty storage that is lost with the page. It answers this query only afterwards; other browsers answer it too.
  const storageIsReady = async () => {
    const timeout = new Promise((done) => setTimeout(done, 1000));
    try { await Promise.race([indexedDB.databases(), timeout]); } catch { /* then the storage is used as it is */ }
  };
  let storage = null;
  let state = newState();
  await storageIsReady();
  try {
    storage = window.localStorage;
    state = stateOf(storage.getItem(storageKey));
  } catch {
    storage = null;
  }
  const save = () => {
    try {
      // Nothing stays on a device before consent, nor after everything was erased. Whether it could is tried under
      // another key, since another tab may have answers under this one.
      storage?.setItem(state.consented ? storageKey : trialKey, state.consented ? JSON.stringify(state) : "");
      storage?.removeItem(trialKey);
      if (storage) return;
    } catch {
      storage = null;
    }
    element("kept").hidden = true;
    element("unsaved").textContent = words.unsaved;
    element("unsaved").hidden = false;
  };
  window.addEventListener("beforeunload", (event) => {
    if (!storage && Object.values(state.answers).some(Boolean)) event.preventDefault();
  });

  // ---- views
  const views = ["welcome", "about", "prompts", "finish"];
  let statusTimer;
  const clearStatus = () => {
    clearTimeout(statusTimer);
    element("status").textContent = "";
  };
  const say = (text) => {
    // emptied first, because a screen reader would not read the same words twice
    clearStatus();
    statusTimer = setTimeout(() => {
      element("status").textContent = text;
      statusTimer = setTimeout(clearStatus, 6000);
    }, 30);
  };
  const show = (view, { focus = true } = {}) => {
    state.view = state.consented ? view : "welcome";
    clearStatus();
    views.forEach((name, i) => {
      element(name).hidden = name !== state.view;
      const step = document.querySelector(`[data-step="${name}"]`);
      step.classList.toggle("done", i < views.indexOf(state.view));
      if (name === state.view) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
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
  const cell = (value) => {
    let text = String(value);
    text = text.toWellFormed ? text.toWellFormed() : text;
    // a spreadsheet would run it as a formula; the import removes exactly one apostrophe
    if (/^'*[=+\-@\t\r\n＝＋－＠]/.test(text)) text = `'${text}`;
    return `"${text.replaceAll('"', '""')}"`;
  };
  const csv = () => "\ufeff" + [survey.columns, ...rows()].map((row) => row.map(cell).join(",") + "\r\n").join("");
  const json = () => JSON.stringify({
    format: "fieldwork-survey-1", study: survey.study, survey: survey.survey, participant: state.participant,
    platform: platform()[1], model: platform()[0], groups: state.groups, consented: state.consented,
    started: state.started, ended: state.ended,
    answers: state.order.map((slot, i) => ({
      prompt: promptOf(slot).key, position: i + 1, asked: promptOf(slot).text, answer: answerOf(slot),
    })),
  }, null, 1);
  const download = (text, kind, suffix) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
    // never the participant's code, because tables keep the names of files
    link.download = `answers_${state.file}.${suffix}`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(fillIn(words.downloaded, { file: link.download }));
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
    try { storage?.removeItem(storageKey); } catch { storage = null; }
    state = newState();
    element("answer").value = "";
    fillAbout();
    show("welcome");
    say(words.erased);
  });

  // A change in another tab of this link is taken over here; otherwise one would overwrite the other's answers.
  window.addEventListener("storage", (event) => {
    if (!storage || (event.key !== null && event.key !== storageKey)) return;
    state = stateOf(event.newValue);
    fillAbout();
    show(state.view, { focus: false });
  });

  fillAbout();
  const isReturning = state.consented !== null;
  show(state.view, { focus: isReturning });
  if (isReturning) say(words.welcome_back);
})();
