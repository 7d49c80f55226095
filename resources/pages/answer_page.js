// What the pages that collect answers have in common: random draws, answers kept in the browser, a status line, and
// files to save. Nothing is sent.
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

  // ---- views, of which one is shown, with the steps above them
  const showView = (views, view) => {
    views.forEach((name, i) => {
      element(name).hidden = name !== view;
      const step = document.querySelector(`[data-step="${name}"]`);
      step.classList.toggle("done", i < views.indexOf(view));
      if (name === view) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
  };

  return { element, fillIn, now, below, shuffled, token, linkedCode, Store, say, clearStatus, csv, download, showView };
})();
