// The page that collects answers: four views and one state, which is saved in localStorage where the browser allows it.
// Nothing is sent. What is asked is its content: content.js of the survey and of the page for raters.
"use strict";
const answerPage = (() => {
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

  // the code in a link, as Prolific and other panels add it
  const linkedCode = (names) => {
    const query = new URLSearchParams(location.search);
    const name = names.find((one) => query.has(one));
    return (query.get(name) ?? "").trim().slice(0, 64);
  };

  // ---- what is kept in the browser: one text for each participant's link, so that two links do not mix
  // Chromium runs the script of a page opened as a file before it knows whose storage that is. Until then it gives an
  // empty storage that is lost with the page. It answers this query only afterwards; other browsers answer it too.
  const storageIsReady = async () => {
    const timeout = new Promise((done) => setTimeout(done, 1000));
    try { await Promise.race([indexedDB.databases(), timeout]); } catch { /* then the storage is used as it is */ }
  };
  class Store {
    constructor(key) {
      this.key = key;
      this.storage = null;
    }
    static async open(key) {
      const store = new Store(key);
      await storageIsReady();
      try { store.storage = window.localStorage; } catch { store.storage = null; }
      return store;
    }
    get isOpen() { return this.storage !== null; }
    read() {
      try { return this.storage?.getItem(this.key) ?? null; } catch { this.storage = null; return null; }
    }
    // Keeps a text, or tries whether one could be kept. The trial has another key, as another tab may have answers
    // under this one.
    write(text) {
      const trialKey = `${this.key}:trial`;
      try {
        this.storage?.setItem(text === null ? trialKey : this.key, text ?? "");
        this.storage?.removeItem(trialKey);
      } catch { this.storage = null; }
      return this.isOpen;
    }
    erase() {
      try { this.storage?.removeItem(this.key); } catch { this.storage = null; }
    }
    // A change in another tab is taken over; otherwise one would overwrite the other's answers.
    onChange(take) {
      window.addEventListener("storage", (event) => {
        if (this.isOpen && (event.key === null || event.key === this.key)) take(event.newValue);
      });
    }
  }

  // ---- the status line
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

  // ---- files to save
  const cell = (value) => {
    let text = String(value);
    text = text.toWellFormed ? text.toWellFormed() : text;
    // a spreadsheet would run it as a formula; the import removes exactly one apostrophe
    if (/^'*[=+\-@\t\r\n＝＋－＠]/.test(text)) text = `'${text}`;
    return `"${text.replaceAll('"', '""')}"`;
  };
  const csv = (rows) => "\ufeff" + rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
  const download = (text, kind, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  const setText = (id, text) => { if (element(id).textContent !== text) element(id).textContent = text; };

  // ---- a whole page: consent, who it is, the pieces of the task one by one, and the end
  // `makeContent(page)` gives what is asked:
  //   view, person        ids of the view with a piece, and of the field with the person's code
  //   linkNames, digest   names of that code in a link; what answers kept in the browser belong to
  //   newState(), isOfThis(saved)   what a state holds besides, and whether one that was kept is of this page
  //   total(), isDone(i), hasAnswers()   the pieces
  //   titles              words of a piece as a title, and in the list of those that are left
  //   showPiece(i), fillAbout(), readAbout(), afterConsent(), allowed(view), leave(), clear()
  //   files               by the id of their button: kind, suffix and text; fileName: how their names begin
  const start = async (makeContent) => {
    const data = JSON.parse(element("page-data").textContent);
    const words = data.texts;
    const page = { data, words, state: null, linkedCode: "" };
    const content = makeContent(page);
    page.linkedCode = linkedCode(content.linkNames);

    // ---- the state
    const newState = () => ({
      file: token(), [content.person]: page.linkedCode, consented: null, started: null, ended: null, view: "welcome",
      index: 0, ...content.newState(),
    });
    const stateOf = (text) => {
      const saved = JSON.parse(text ?? "null");
      return saved && content.isOfThis(saved) ? saved : newState();
    };
    const store = await Store.open(`fieldwork:${content.digest}:${page.linkedCode}`);
    page.state = newState();
    try { page.state = stateOf(store.read()); } catch { /* what is kept there is not ours */ }
    page.save = () => {
      // nothing stays on a device before consent, nor after everything was erased
      if (store.write(page.state.consented ? JSON.stringify(page.state) : null)) return;
      element("kept").hidden = true;
      element("unsaved").textContent = words.unsaved;
      element("unsaved").hidden = false;
    };
    window.addEventListener("beforeunload", (event) => {
      if (!store.isOpen && content.hasAnswers()) event.preventDefault();
    });

    // ---- views, of which one is shown, with the steps above them
    const views = ["welcome", "about", content.view, "finish"];
    const show = (view, { focus = true } = {}) => {
      content.leave();
      const { state } = page;
      state.view = state.consented ? content.allowed(view) : "welcome";
      clearStatus();
      views.forEach((name, i) => {
        element(name).hidden = name !== state.view;
        const step = document.querySelector(`[data-step="${name}"]`);
        step.classList.toggle("done", i < views.indexOf(state.view));
        if (name === state.view) step.setAttribute("aria-current", "step");
        else step.removeAttribute("aria-current");
      });
      if (state.view === content.view) showPiece();
      if (state.view === "finish") showFinish();
      page.save();
      if (focus) {
        element(`${state.view}-title`).focus();
        window.scrollTo(0, 0);
      }
    };
    const pieces = () => Array.from({ length: content.total() }, (_, i) => i);
    const nDone = () => pieces().filter(content.isDone).length;
    const counts = () => ({ answered: nDone(), judged: nDone(), total: content.total() });
    page.showProgress = () => {
      setText("progress", fillIn(words.progress, counts()));
      element("bar").style.width = `${(100 * nDone()) / Math.max(content.total(), 1)}%`;
    };
    const isLast = () => page.state.index + 1 >= content.total();
    const showPiece = () => {
      const { index } = page.state;
      element(`${content.view}-title`).textContent = fillIn(content.titles.piece, { n: index + 1, total: content.total() });
      element("next").textContent = isLast() ? words.to_finish : words.next;
      content.showPiece(index);
      page.showProgress();
    };
    const showFinish = () => {
      page.state.ended ??= now();
      element("counted").textContent = fillIn(words.counted, counts());
      const missing = pieces().filter((i) => !content.isDone(i));
      element("left").hidden = missing.length === 0;
      element("left-list").replaceChildren(...missing.map((i) => {
        const button = Object.assign(document.createElement("button"), {
          type: "button", className: "side", textContent: fillIn(content.titles.link, { n: i + 1 }),
        });
        button.addEventListener("click", () => goTo(i));
        const line = document.createElement("li");
        line.append(button);
        return line;
      }));
    };
    const goTo = (index) => {
      content.leave();
      page.state.index = Math.max(0, Math.min(index, content.total() - 1));
      show(content.view);
    };
    const fillAbout = () => {
      element("agree").checked = Boolean(page.state.consented);
      element(content.person).value = page.state[content.person];
      content.fillAbout();
    };

    // ---- buttons
    element("consent-form").addEventListener("submit", (event) => {
      event.preventDefault();
      page.state.consented ??= now();
      show(content.afterConsent());
    });
    element("about-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (content.readAbout()) goTo(page.state.index);
    });
    document.querySelectorAll("[data-go]").forEach((button) =>
      button.addEventListener("click", () => show(button.dataset.go)));
    const goBack = () => (page.state.index > 0 ? goTo(page.state.index - 1) : show("about"));
    const goOn = () => (isLast() ? show("finish") : goTo(page.state.index + 1));
    element("previous").addEventListener("click", goBack);
    const { form } = element("next");
    if (form === null) element("next").addEventListener("click", goOn);
    else {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        goOn();
      });
    }
    element("return").addEventListener("click", () => goTo(content.total() - 1));
    Object.entries(content.files).forEach(([id, file]) => element(id).addEventListener("click", () => {
      // never the person's code, because tables keep the names of files
      const name = `${content.fileName}_${page.state.file}.${id}`;
      download(file.text(), file.kind, name);
      say(fillIn(words.downloaded, { file: name }));
    }));
    element("erase").addEventListener("click", () => element("sure").showModal());
    element("sure").addEventListener("close", () => {
      if (element("sure").returnValue !== "yes") return;
      element("sure").returnValue = "";
      store.erase();
      content.clear();
      page.state = newState();
      fillAbout();
      show("welcome");
      say(words.erased);
    });
    store.onChange((text) => {
      page.state = stateOf(text);
      fillAbout();
      show(page.state.view, { focus: false });
    });

    fillAbout();
    const isReturning = page.state.consented !== null;
    show(page.state.view, { focus: isReturning });
    if (isReturning) say(words.welcome_back);
  };

  return { element, fillIn, now, shuffled, say, setText, csv, start };
})();
