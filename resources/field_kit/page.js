// The survey page: four views, one state, kept in localStorage where the browser allows it. Nothing is sent.
"use strict";
(async () => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const words = survey.texts;
  const at = (id) => document.getElementById(id);
  const told = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
  const now = () => new Date().toISOString();

  // ---- draws: of the browser's cryptographic source, without the bias of a modulo
  const below = (n) => {
    const limit = Math.floor(2 ** 32 / n) * n;
    const drawn = new Uint32Array(1);
    do crypto.getRandomValues(drawn); while (drawn[0] >= limit);
    return drawn[0] % n;
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

  // ---- the state: one a participant's link, so that two links on one device do not mix
  const query = new URLSearchParams(location.search);
  const linked = (query.get("PROLIFIC_PID") ?? query.get("participant") ?? "").trim().slice(0, 64);
  const place = `fieldwork:${survey.survey}:${linked}`;
  const trial = `${place}:trial`;
  // a prompt asked again is a slot of its own
  const slots = survey.prompts.length * survey.repeats;
  const fresh = () => ({
    file: token(), participant: linked, model: null, groups: {}, consented: null, started: null, ended: null,
    order: shuffled(slots), answers: {}, view: "welcome", index: 0,
  });
  const fits = (kept) => kept && Array.isArray(kept.order) && kept.order.length === slots;
  const stateOf = (text) => {
    const kept = JSON.parse(text ?? "null");
    return fits(kept) ? kept : fresh();
  };
  // Chromium runs the script of a page opened as a file before it knows whose storage that is, and then gives one that
  // is empty and lost with the page; what it answers to another question comes after. Other browsers answer too.
  const known = async () => {
    const late = new Promise((done) => setTimeout(done, 1000));
    try { await Promise.race([indexedDB.databases(), late]); } catch { /* then it is asked as it is */ }
  };
  let storage = null;
  let state = fresh();
  await known();
  try {
    storage = window.localStorage;
    state = stateOf(storage.getItem(place));
  } catch {
    storage = null;
  }
  const keep = () => {
    try {
      // nothing stays on a device before consent, nor after everything was erased; whether it could is tried at a
      // place of its own, since another tab may have answers at this one
      storage?.setItem(state.consented ? place : trial, state.consented ? JSON.stringify(state) : "");
      storage?.removeItem(trial);
      if (storage) return;
    } catch {
      storage = null;
    }
    at("kept").hidden = true;
    at("unsaved").textContent = words.unsaved;
    at("unsaved").hidden = false;
  };
  window.addEventListener("beforeunload", (event) => {
    if (!storage && Object.values(state.answers).some(Boolean)) event.preventDefault();
  });

  // ---- views
  const views = ["welcome", "about", "prompts", "finish"];
  let said;
  const hush = () => {
    clearTimeout(said);
    at("status").textContent = "";
  };
  const say = (text) => {
    // emptied first, or a screen reader does not say the same words twice
    hush();
    said = setTimeout(() => {
      at("status").textContent = text;
      said = setTimeout(hush, 6000);
    }, 30);
  };
  const show = (view, { focus = true } = {}) => {
    state.view = state.consented ? view : "welcome";
    hush();
    views.forEach((name, i) => {
      at(name).hidden = name !== state.view;
      const step = document.querySelector(`[data-step="${name}"]`);
      step.classList.toggle("done", i < views.indexOf(state.view));
      if (name === state.view) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    if (state.view === "prompts") showPrompt();
    if (state.view === "finish") showFinish();
    keep();
    if (focus) {
      at(`${state.view}-title`).focus();
      window.scrollTo(0, 0);
    }
  };
  const promptOf = (slot) => survey.prompts[slot % survey.prompts.length];
  const answerOf = (slot) => state.answers[slot] ?? "";
  const isAnswered = (slot) => answerOf(slot).trim() !== "";
  const nAnswered = () => state.order.filter(isAnswered).length;

  const showPrompt = () => {
    const slot = state.order[state.index];
    at("prompts-title").textContent = told(words.prompt_n, { n: state.index + 1, total: slots });
    at("prompt").textContent = promptOf(slot).text;
    at("answer").value = answerOf(slot);
    at("next").textContent = state.index + 1 < slots ? words.next : words.to_finish;
    const before = state.order.slice(0, state.index).map(promptOf);
    at("repeated").hidden = !before.includes(promptOf(slot));
    remark();
  };
  const tell = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
  const remark = () => {
    const slot = state.order[state.index];
    const answered = nAnswered();
    tell("progress", told(words.progress, { answered, total: slots }));
    const same = answerOf(slot).trim() === promptOf(slot).text.trim();
    tell("remark", same ? words.same_as_prompt : "");
    at("bar").style.width = `${(100 * answered) / slots}%`;
  };
  const showFinish = () => {
    state.ended ??= now();
    at("counted").textContent = told(words.counted, { answered: nAnswered(), total: slots });
    const missing = state.order.map((slot, i) => [slot, i]).filter(([slot]) => !isAnswered(slot));
    at("left").hidden = missing.length === 0;
    at("left-list").replaceChildren(...missing.map(([, i]) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button", className: "side", textContent: told(words.prompt_i, { n: i + 1 }),
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
    at("agree").checked = Boolean(state.consented);
    at("participant").value = state.participant;
    at("participant").readOnly = linked !== "";
    document.querySelectorAll("#about input[type=radio]").forEach((radio) => {
      const chosen = radio.name === "model" ? state.model : state.groups[radio.dataset.variable];
      radio.checked = chosen !== undefined && radio.value === chosen;
    });
  };
  at("about").addEventListener("input", () => {
    state.participant = at("participant").value.trim();
    document.querySelectorAll("#about input[type=radio]:checked").forEach((radio) => {
      if (radio.name === "model") state.model = radio.value;
      else state.groups[radio.dataset.variable] = radio.value;
    });
    keep();
  });

  // ---- copying: three ways down to the participant's own hands
  const copied = async (text) => {
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
  at("copy").addEventListener("click", async () => {
    const done = await copied(promptOf(state.order[state.index]).text);
    at("copy").focus();
    if (!done) getSelection().selectAllChildren(at("prompt"));
    say(done ? words.copied : words.copy_yourself);
  });

  // ---- what leaves the page: two files, of the same answers
  const platform = () => survey.platforms.find(([model]) => model === state.model) ?? ["", ""];
  const rows = () => state.order.map((slot, i) => [
    state.participant, platform()[1], platform()[0], promptOf(slot).key, i + 1, answerOf(slot),
    ...survey.variables.map((variable) => state.groups[variable] ?? ""),
    state.started ?? "", state.ended ?? "", survey.survey,
  ]);
  const cell = (value) => {
    let text = String(value);
    text = text.toWellFormed ? text.toWellFormed() : text;
    // a spreadsheet would run it as a formula; the import takes exactly one apostrophe off again
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
    // never the participant's code: names of files are kept in tables
    link.download = `answers_${state.file}.${suffix}`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(told(words.downloaded, { file: link.download }));
  };

  // ---- what the buttons do
  at("consent-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.consented ??= now();
    show("about");
  });
  at("about-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.started ??= now();
    goTo(state.index);
  });
  document.querySelectorAll("[data-go]").forEach((button) =>
    button.addEventListener("click", () => show(button.dataset.go)));
  at("answer").addEventListener("input", () => {
    state.answers[state.order[state.index]] = at("answer").value;
    remark();
    keep();
  });
  at("previous").addEventListener("click", () => (state.index > 0 ? goTo(state.index - 1) : show("about")));
  at("next").addEventListener("click", () => (state.index + 1 < slots ? goTo(state.index + 1) : show("finish")));
  at("return").addEventListener("click", () => goTo(slots - 1));
  at("csv").addEventListener("click", () => download(csv(), "text/csv", "csv"));
  at("json").addEventListener("click", () => download(json(), "application/json", "json"));
  at("erase").addEventListener("click", () => at("sure").showModal());
  at("sure").addEventListener("close", () => {
    if (at("sure").returnValue !== "yes") return;
    at("sure").returnValue = "";
    try { storage?.removeItem(place); } catch { storage = null; }
    state = fresh();
    at("answer").value = "";
    fillAbout();
    show("welcome");
    say(words.erased);
  });

  // what another tab of this link keeps or erases is so here too, or each would write over the other's answers
  window.addEventListener("storage", (event) => {
    if (!storage || (event.key !== null && event.key !== place)) return;
    state = stateOf(event.newValue);
    fillAbout();
    show(state.view, { focus: false });
  });

  fillAbout();
  const again = state.consented !== null;
  show(state.view, { focus: again });
  if (again) say(words.welcome_back);
})();
