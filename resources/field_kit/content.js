// What the survey asks: each prompt to be copied to a chat, and the answer pasted back.
"use strict";
answerPage.start((page) => {
  const { element, now, shuffled, say, setText } = answerPage;
  const { data: survey, words } = page;

  // ---- the state
  // each repeat of a prompt is a slot of its own
  const slots = survey.prompts.length * survey.repeats;
  const slotOf = (index) => page.state.order[index];
  const promptOf = (slot) => survey.prompts[slot % survey.prompts.length];
  const answerOf = (slot) => page.state.answers[slot] ?? "";
  const isAnswered = (slot) => answerOf(slot).trim() !== "";

  const showPiece = (index) => {
    const slot = slotOf(index);
    element("prompt").textContent = promptOf(slot).text;
    element("answer").value = answerOf(slot);
    const before = page.state.order.slice(0, index).map(promptOf);
    element("repeated").hidden = !before.includes(promptOf(slot));
    remark();
  };
  const remark = () => {
    const slot = slotOf(page.state.index);
    const same = answerOf(slot).trim() === promptOf(slot).text.trim();
    setText("remark", same ? words.same_as_prompt : "");
  };
  element("answer").addEventListener("input", () => {
    page.state.answers[slotOf(page.state.index)] = element("answer").value;
    remark();
    page.showProgress();
    page.save();
  });

  // ---- the form about the participant
  const radios = "#about input[type=radio]";
  const fillAbout = () => {
    element("participant").readOnly = page.linkedCode !== "";
    document.querySelectorAll(radios).forEach((radio) => {
      const chosen = radio.name === "model" ? page.state.model : page.state.groups[radio.dataset.variable];
      radio.checked = chosen !== undefined && radio.value === chosen;
    });
  };
  element("about").addEventListener("input", () => {
    page.state.participant = element("participant").value.trim();
    document.querySelectorAll(`${radios}:checked`).forEach((radio) => {
      if (radio.name === "model") page.state.model = radio.value;
      else page.state.groups[radio.dataset.variable] = radio.value;
    });
    page.save();
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
    const done = await copyText(promptOf(slotOf(page.state.index)).text);
    element("copy").focus();
    if (!done) getSelection().selectAllChildren(element("prompt"));
    say(done ? words.copied : words.copy_yourself);
  });

  // ---- the two files that a participant can save, with the same answers
  const platform = () => survey.platforms.find(([model]) => model === page.state.model) ?? ["", ""];
  const rows = () => page.state.order.map((slot, i) => [
    page.state.participant, platform()[1], platform()[0], promptOf(slot).key, i + 1, answerOf(slot),
    ...survey.variables.map((variable) => page.state.groups[variable] ?? ""),
    page.state.started ?? "", page.state.ended ?? "", survey.survey,
  ]);
  const json = () => {
    const { participant, groups, consented, started, ended, order } = page.state;
    return JSON.stringify({
      format: "fieldwork-survey-1", study: survey.study, survey: survey.survey, participant,
      platform: platform()[1], model: platform()[0], groups, consented, started, ended,
      answers: order.map((slot, i) => ({
        prompt: promptOf(slot).key, position: i + 1, asked: promptOf(slot).text, answer: answerOf(slot),
      })),
    }, null, 1);
  };

  return {
    view: "prompts",
    person: "participant",
    linkNames: ["PROLIFIC_PID", "participant"],
    digest: survey.survey,
    newState: () => ({ model: null, groups: {}, order: shuffled(slots), answers: {} }),
    isOfThis: (saved) => Array.isArray(saved.order) && saved.order.length === slots,
    total: () => slots,
    isDone: (index) => isAnswered(slotOf(index)),
    hasAnswers: () => Object.values(page.state.answers).some(Boolean),
    titles: { piece: words.prompt_n, link: words.prompt_i },
    showPiece,
    fillAbout,
    readAbout: () => {
      page.state.started ??= now();
      return true;
    },
    afterConsent: () => "about",
    allowed: (view) => view,
    leave: () => {},
    clear: () => { element("answer").value = ""; },
    fileName: "answers",
    files: {
      csv: { kind: "text/csv", text: () => answerPage.csv([survey.columns, ...rows()]) },
      json: { kind: "application/json", text: json },
    },
  };
});
