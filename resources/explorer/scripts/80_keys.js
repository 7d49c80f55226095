// Keys: single letters, which can be switched off, and never while something is typed.
const isTyping = (node) =>
  node?.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
let keysOn = true;
const follow = (relation) => section.querySelector(`a[rel=${relation}]`)?.click();
const stepAnswer = (by) => {
  if (shownView === "answer") follow(by > 0 ? "next" : "prev");
  else currentList?.step(by);
};
const KEYS = new Map([
  ["/", () => byId("q").focus()],
  ["j", () => stepAnswer(1)],
  ["k", () => stepAnswer(-1)],
  ["?", () => byId("keys").showModal()],
]);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || byId("keys").open)
    return;
  if (!keysOn || !KEYS.has(event.key)) return;
  event.preventDefault();
  KEYS.get(event.key)();
});
byId("keys-on").addEventListener("change", (event) => {
  keysOn = event.target.checked;
});
byId("show-keys").addEventListener("click", () => byId("keys").showModal());
byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const { view, filters } = parseAddress(location.hash);
  const base = view === "answers" ? filters : new URLSearchParams();
  go(addressOf("answers", withFilters(base, { q: byId("q").value.trim(), random: "" })));
});
// the skip link must not change the address, which is the page's state
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
