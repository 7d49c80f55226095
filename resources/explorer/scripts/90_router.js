// From the address to a view: the focus goes to its heading, and going back finds the place again.
const views = {
  question: questionView,
  compare: compareView,
  user: userView,
  answers: answersView,
  answer: answerView,
  doubtful: doubtfulView,
};
const main = byId("main");
const section = byId("view");
let shownView = null;
let showFilters = null;
let loadError = null;
const heading = h("h1", { tabindex: "-1", dir: "auto" });
const markNavigation = (view) => {
  document.querySelectorAll("[data-view]").forEach((node) => {
    if (node.dataset.view === view) node.setAttribute("aria-current", "page");
    else node.removeAttribute("aria-current");
  });
};
const buildView = (view) => {
  currentList = null;
  const body = h("div", { class: `view view-${view}` });
  put(section, heading, body);
  if (loadError) {
    body.append(note(loadError, "warning"));
    return null;
  }
  if (!table) {
    body.append(h("p", { class: "hint" }, "Loading the answers …"));
    return null;
  }
  return views[view].build(body);
};
const positions = new Map();
let entryNumber = 0;
let currentEntry = 0;
// a new entry of the history has no number yet; one with a number was gone back to
const scrollPlace = () => {
  positions.set(currentEntry, window.scrollY);
  const number = history.state?.entry;
  if (number === undefined || number === null) {
    entryNumber += 1;
    currentEntry = entryNumber;
    history.replaceState({ entry: currentEntry }, "");
    return 0;
  }
  currentEntry = number;
  entryNumber = Math.max(entryNumber, number);
  return positions.get(number) ?? 0;
};
const show = ({ isFirst = false } = {}) => {
  hideTip();
  const { view: wish, filters } = parseAddress(location.hash);
  const view = wish === "study" || views[wish] ? wish : "study";
  const y = scrollPlace();
  const isSame = view === shownView;
  const hadFocus = section.contains(document.activeElement);
  markNavigation(view);
  byId("start").hidden = view !== "study";
  section.hidden = view === "study";
  if (view === "study") {
    currentList = null;
    put(section);
    document.title = study.name;
  } else {
    if (!isSame || !showFilters) showFilters = buildView(view);
    const title = table ? views[view].title(filters) : "Loading";
    heading.textContent = title;
    document.title = `${title} – ${study.name}`;
    try {
      showFilters?.(filters);
    } catch (error) {
      put(section, heading, note(`This view cannot be shown: ${error.message}`, "warning"));
      showFilters = null;
      throw error;
    }
  }
  byId("q").value = filters.get("q") ?? "";
  shownView = view;
  const lostFocus = isSame && hadFocus && !section.contains(document.activeElement);
  if (!isFirst && (!isSame || lostFocus || view === "answer")) {
    const target = view === "study" ? byId("start-title") : heading;
    target.focus({ preventScroll: true });
  }
  if (!isFirst && (!isSame || y || view === "answer")) window.scrollTo(0, y);
  currentList?.draw();
};
history.scrollRestoration = "manual";
window.addEventListener("hashchange", () => show());
wireStudy();
openStorage();
show({ isFirst: true });
loadFile("answers")
  .then(
    (answers) => {
      takeAnswers(answers);
      if (otherVersion(answers))
        loadError = "The files of this page are of different versions. Write the page again.";
    },
    (error) => {
      loadError = error.message;
    },
  )
  .finally(() => {
    if (loadError) byId("notices").append(note(loadError, "warning"));
    document.documentElement.dataset.ready = "yes";
    showFilters = null;
    if (shownView !== "study") show({ isFirst: true });
  });
