"""The page for raters in Chromium: by mouse, keyboard and telephone, interrupted, and by twelve raters.

The twelve are scripted. What they agree by, what they prefer without reason, and how much higher the
model judge rates, is planted; the estimates must find it.
"""

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import Seen, check_access, read_csv, save_file, watched_pages
from fieldwork import answer_pages
from fieldwork.judging.kit.allocation import allot_units
from fieldwork.judging.kit.page import review_content
from fieldwork.judging.kit.questions import RaterQuestion, ReviewKit, WhyQuestion
from fieldwork.judging.units import side_code
from fieldwork.page_texts import read_words
from fieldwork.records.judging import SIDES
from fieldwork.sections.judging import UnitSharing
from servers.provider import Chat, ModelSpec, serve_provider
from unit.judging.unit_texts import BETTER, RIGHT, WHY, pair, unit_text
from unit.shipped_pages import page_template
from workflow.conftest import (
    KEY,
    KEYS,
    Checkout,
    copy_project,
    from_yaml,
    loopback_model,
    prices_of,
    rows_of,
)

pytestmark = pytest.mark.browser

SHIPPED = Path(__file__).parents[2] / "resources"
HOSTILE = "</script><script>window.broken = true</script><b>{n}</b> ${x}"


def write_review(folder: Path) -> str:
    """The address of a page with three facts and two pairs, all for each of two raters."""
    facts = [unit_text(f"a{n}", attribute=f"Fact {n}", evidence=HOSTILE) for n in range(3)]
    questions = [
        RaterQuestion(
            "right", "Is it right?", RIGHT, WhyQuestion(WHY, ["unsure", "reject"]), facts
        ),
        RaterQuestion("better", "Which is better?", BETTER, None, [pair("p0"), pair("p1")]),
    ]
    settings = UnitSharing(raters=2, overlap=1, shared_by=2, repeated=0)
    allotments = [a for q in questions for a in allot_units(q.units, settings, q.name, seed=1)]

    words = read_words(SHIPPED / "review_kit/texts_en.yaml", SHIPPED / "review_kit/texts_en.yaml")
    kit = ReviewKit("demo", questions, allotments)
    file = folder / "review.html"
    content = review_content(kit, words)
    page = answer_pages.render(page_template("review_kit"), content, words, "You take part.")
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, seen: Seen, tmp_path: Path) -> Iterator[Opener]:
    """Opens the page as a rater of its own; `query` and options of a context."""
    address = write_review(tmp_path)
    with watched_pages(browser, seen) as open_address:
        yield lambda query="?rater=R01", **options: open_address(address + query, **options)


def begin(page: Page) -> None:
    page.get_by_label("I have read this information").check()
    page.get_by_role("button", name="Begin").click()


def saved_rows(page: Page) -> list[dict[str, str]]:
    file = save_file(page, "Save my answers")
    assert re.fullmatch(r"judgements_[0-9a-f]{12}\.csv", file.name)
    return read_csv(file)


def order_codes(name: str) -> set[str]:
    return {side_code(name, f"code-{name}", side) for side in SIDES}


def test_a_rater_judges_says_why_and_saves_a_file(opened: Opener) -> None:
    page = opened()
    begin(page)
    expect(page.locator("#judging-title")).to_have_text("Question 1 of 5")
    assert page.locator("#evidence").text_content() == HOSTILE
    assert page.evaluate("window.broken") is None
    page.get_by_label("It is right").check()
    expect(page.locator("#why")).to_be_hidden()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("reject").check()
    page.get_by_label("too general").check()
    page.get_by_label("Remarks").fill("=not sure")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("unsure").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#second-part")).to_be_visible()
    page.get_by_label("Answer 1 is much better").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Go to the end").click()
    # of the third the reason is missing, and of the last everything
    expect(page.locator("#counted")).to_have_text("You have answered 3 of 5 questions.")
    assert page.locator("#left-list button").all_text_contents() == ["Question 3", "Question 5"]
    rows = saved_rows(page)
    assert [(row["scale"], row["value"]) for row in rows] == [
        ("right", "accept"),
        ("right", "reject"),
        ("why", "too general"),
        ("right", "unsure"),
        ("better", "1"),
        ("better", ""),
    ]
    assert {row["rater"] for row in rows} == {"R01"}
    assert rows[1]["note"] == "'=not sure"
    assert {row["first_side"] for row in rows[:4]} == {""}
    # the order is a code of the unit, so that no rater learns which side is whose
    assert rows[4]["first_side"] in order_codes("p0") | order_codes("p1")
    assert float(rows[0]["seconds"]) > 0


def test_the_side_that_the_file_names_is_the_one_that_stood_first(opened: Opener) -> None:
    for rater in ("R01", "R02"):
        page = opened(f"?rater={rater}")
        begin(page)
        shown = {}
        for _ in range(5):
            if page.locator("#second-part").is_visible():
                number = (page.locator("#judging-title").text_content() or "").split()[1]
                side = (page.locator("#first").text_content() or "")[-1].lower()
                shown[number] = "ab".index(side)
            page.locator("#next").click()
        rows = [row for row in saved_rows(page) if row["scale"] == "better"]
        sides = {
            side_code(name, f"code-{name}", side): place
            for name in ("p0", "p1")
            for place, side in enumerate(SIDES)
        }
        assert {row["position"]: sides[row["first_side"]] for row in rows} == shown


def test_everything_can_be_done_by_keyboard_even_after_an_interruption(opened: Opener) -> None:
    page = opened()
    page.get_by_label("I have read this information").focus()
    keys = page.keyboard
    keys.press("Space")
    keys.press("Enter")
    # a digit in a remark is a digit
    page.get_by_label("Remarks").press_sequentially("in 1 of 2")
    assert page.locator("#option-list input:checked").count() == 0
    assert page.get_by_label("Remarks").input_value() == "in 1 of 2"
    page.locator("#judging-title").focus()
    keys.press("1")
    keys.press("Enter")
    page.reload()
    expect(page.locator("#judging-title")).to_have_text("Question 2 of 5")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("It is right")).to_be_checked()
    for key in "1", "2", "1", "5", "3":
        keys.press(key)
        expect(page.locator(f"#option-list input >> nth={int(key) - 1}")).to_be_checked()
        keys.press("Enter")
    expect(page.locator("#finish")).to_be_visible()
    values = [row["value"] for row in saved_rows(page) if row["scale"] != "why"]
    assert values == ["accept", "unsure", "accept", "5", "3"]


def test_a_code_that_is_not_the_studys_goes_no_further(opened: Opener) -> None:
    page = opened("")
    begin(page)
    box = page.get_by_label("The code that you were given")
    for code in ("R77", "ann@example.com"):
        box.fill(code)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#rater-problem")).to_contain_text("not one of this study's")
        expect(page.locator("#about")).to_be_visible()
    box.fill(" r02 ")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#judging-title")).to_have_text("Question 1 of 5")


def test_axe_finds_nothing_serious_on_a_telephone(opened: Opener) -> None:
    page = opened(viewport={"width": 360, "height": 740}, reduced_motion="reduce")

    def check(view: str) -> None:
        expect(page.locator(f"#{view}")).to_be_visible()
        check_access(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360

    check("welcome")
    begin(page)
    page.keyboard.press("3")
    check("judging")
    for _ in range(4):
        page.locator("#next").click()
    check("judging")
    page.locator("#next").click()
    check("finish")


# ---- twelve raters ------------------------------------------------------------------------------------

PRICES = {"gpt-loop": {"input": 2.0, "cached": 0.5, "cache_write": 2.0, "output": 8.0}}
N_RATERS, N_USERS, SHARED_BY = 12, 56, 3
SHARE_RIGHT = 0.6
COPIES = 0.8
"""How often a rater sees what is there; else they draw from the same shares. κ of two is its square."""
FIRST = 0.2
"""How often a rater takes the answer that stands first, whatever it says."""
FALSE_ACCEPTS = 0.5
"""Share of what is wrong that the judge accepts."""
INFLATION = 1


def share_of(text: str) -> float:
    """A number from 0 to 1 that hangs on a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


def attribute(number: int, conversation: str) -> str:
    holds = share_of(f"{number}{conversation}") < SHARE_RIGHT
    statement = f"Statement {share_of(conversation):.6f}-{number} {'holds' if holds else 'fails'}"
    return json.dumps({"attribute": statement, "turns": [1], "confidence": 0.9})


def worth(answer: str) -> int:
    """What a personalised answer is worth beside a generic one, from 2 to 4."""
    return {"worse": 2, "equal": 3, "better": 4}[answer.split()[-1]]


def loopback_answer(request: Mapping[str, Any]) -> str:
    """A model that reads conversations, answers, and judges its own answers too kindly."""
    content = request["messages"][-1]["content"]
    if "What do you learn about the user" in content:
        return "\n".join(attribute(number, content) for number in range(2))
    if "Is this right about the user" in content:
        is_accepted = "holds" in content or share_of(content) < FALSE_ACCEPTS
        return "A" if is_accepted else "C"
    if "Which of the two answers" in content:
        first, second = re.findall(r"Answer [12]:\n\d\. (.*)", content)
        is_turned = first.startswith("Personal")
        rating = worth(first if is_turned else second) + INFLATION
        return "ABCDE"[(6 - rating if is_turned else rating) - 1]
    if request["messages"][0]["role"] == "system":
        kind = ("worse", "equal", "better")[int(3 * share_of(str(request["messages"])))]
        return f"1. Personal {kind}"
    return "1. Generic"


def overlay(server: Chat) -> dict[str, Any]:
    return from_yaml(
        """
        study: {models: [gpt], conditions: [offline, memory], tasks: [recommendations]}
        models: {gpt: $gpt}
        conditions: {memory: {replicates: 1}}
        memory: {conversations: 1, merge_above: 1.5}
        tasks: {recommendations: {runs: $users, sources: [{format: items, kind: list,
          dataset: recommendations, item_ids: [hobbies]}]}}
        generation: {max_unreadable: 1}
        judging:
          scales:
            right: {options: [accept, unsure, reject], accepted: [accept]}
            why: {options: [no evidence, too general]}
            better: {level: interval, options: ["1", "2", "3", "4", "5"], prefers_a: ["1", "2"],
              prefers_b: ["4", "5"]}
          units:
            right: {of: attributes, scale: right, why: {scale: why, after: [unsure, reject]}}
            better: {of: pairs, scale: better, conditions: [offline, memory]}
          judges: {models: [gpt]}
          kit: {raters: $raters, overlap: 1, shared_by: $shared_by, repeated: 0.5}
        prices: $prices
        """,
        gpt=loopback_model(server.base_url, "gpt-loop"),
        users=N_USERS,
        raters=N_RATERS,
        shared_by=SHARED_BY,
        prices=prices_of(PRICES),
    )


class Rater:
    """A scripted rater, who reads the page and nothing else.

    Args:
        worths: how often answers are worth 2, 3 and 4, from which a rater draws who does not look.
    """

    def __init__(self, code: str, share_right: float, worths: list[int]) -> None:
        self._random = random.Random(code)
        self._share_right, self._worths = share_right, worths

    def key(self, shown: Mapping[str, str]) -> str:
        """The key that the rater presses, by the texts of a question."""
        sees = self._random.random() < COPIES
        if "second" not in shown:
            is_right = (
                "holds" in shown["attribute"] if sees else self._random.random() < self._share_right
            )
            return "1" if is_right else "3"
        if self._random.random() < FIRST:
            return "2"
        is_turned = "Personal" in shown["first"]
        answer = shown["first" if is_turned else "second"]
        rating = worth(answer) if sees else self._random.choice(self._worths)
        return str(6 - rating if is_turned else rating)


# what a rater sees of each question, and then their keys: each in one call to the browser
READ_ALL = """total => Array.from({ length: total }, () => {
  const parts = ["attribute", "first", "second"].map(id => document.getElementById(id));
  const seen = parts.filter(part => part.checkVisibility()).map(part => [part.id, part.textContent]);
  document.getElementById("next").click();
  return Object.fromEntries(seen);
})"""
JUDGE_ALL = """keys => {
  for (const key of keys) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const why = document.querySelector("#why-list input[value='too general']");
    if (why?.checkVisibility()) why.click();
    document.getElementById("next").click();
  }
}"""


def judge_all(page: Page, rater: Rater, folder: Path) -> int:
    """Judge everything that a rater is given, and save the file; how many questions there were."""
    begin(page)
    total = int((page.locator("#judging-title").text_content() or "").split()[-1])
    shown = page.evaluate(READ_ALL, total)
    page.get_by_role("button", name="Question 1", exact=True).click()
    page.evaluate(JUDGE_ALL, [rater.key(texts) for texts in shown])
    expect(page.locator("#left")).to_be_hidden()
    folder.mkdir(parents=True, exist_ok=True)
    file = save_file(page, "Save my answers")
    shutil.copy(file, folder / file.name)
    return total


class Judged(NamedTuple):
    """A study after its raters: where it is, and what was planted."""

    checkout: Checkout
    share_right: float
    worths: list[int]
    n_judgements: int
    n_false_accepts: int


@pytest.fixture(scope="module")
def judged(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    study = copy_project(tmp_path_factory.mktemp("judged") / "project")
    specs = [ModelSpec("gpt-loop", family="4o")]
    with serve_provider(specs=specs, prices=PRICES, answer=loopback_answer, api_key=KEY) as server:
        file = str(study.study("judged", overlay(server)))
        study.make("review_kit", study=file, env=KEYS)
        facts = [row[0] for row in texts_of(study, "right", "attribute")]
        answers = [row[0] for row in texts_of(study, "better", "text_b")]
        share_right = sum("holds" in fact for fact in facts) / len(facts)
        worths = [worth(answer) for answer in answers]
        address = (study.results("judged") / "review_kit/review.html").as_uri()
        folder, n_judgements = study.root / "resources/judging/page", 0
        with watched_pages(browser, Seen()) as open_address:
            for number in range(1, N_RATERS + 1):
                code = f"R{number:02}"
                page = open_address(f"{address}?rater={code}")
                n_judgements += judge_all(page, Rater(code, share_right, worths), folder)
                page.context.close()
        back = study.results("judged") / "review_kit/review_page.yaml"
        target = "results/judged/metrics/judgements.csv"
        study.make(target, "--configfile", file, str(back), env=KEYS)
    n_false = rows_of(
        study,
        """SELECT count(*) FROM 'RESULTS/judged/judging/judgements.parquet' j
        JOIN 'RESULTS/judged/judging/texts/right.parquet' u USING (unit_id)
        WHERE j.rater_kind = 'model' AND j.value = 'accept' AND u.attribute LIKE '%fails'""",
    )[0][0]
    return Judged(study, share_right, worths, n_judgements, n_false)


def texts_of(study: Checkout, units: str, column: str) -> list[tuple[Any, ...]]:
    return rows_of(study, f"SELECT {column} FROM 'RESULTS/judged/judging/texts/{units}.parquet'")


def test_all_that_raters_saved_is_in_one_table_with_the_judge(judged: Judged) -> None:
    rows = rows_of(
        judged.checkout,
        """SELECT rater_kind, scale, count(*), count(DISTINCT rater), count(value)
        FROM 'RESULTS/judged/judging/judgements.parquet' GROUP BY ALL ORDER BY ALL""",
    )
    by_kind = {(kind, scale): tuple(rest) for kind, scale, *rest in rows}
    people = [by_kind["person", scale] for scale in ("right", "better")]
    assert sum(n for n, _, _ in people) == judged.n_judgements
    assert {n_raters for _, n_raters, _ in people} == {N_RATERS}
    assert all(n == n_values for n, _, n_values in people)
    # each rejection has its reason
    assert by_kind["person", "why"][0] > 10
    n_pairs = len(judged.worths)
    assert by_kind["model", "better"][:2] == (2 * n_pairs, 1)
    written = (judged.checkout.results("judged") / "judging").rglob("*.parquet")
    assert not any(re.search(rb"\bR(0[1-9]|1[012])\b", path.read_bytes()) for path in written)


def planted(judged: Judged) -> dict[tuple[str, str, str, str | None], float]:
    """What was planted, by scale, measure, raters and whom they are compared with."""
    p, worths = judged.share_right, judged.worths
    kappa, chance = COPIES**2, p**2 + (1 - p) ** 2
    n_right = p * len(texts_of(judged.checkout, "right", "code"))
    n_decided = (1 - FIRST) * sum(w != 3 for w in worths) / len(worths)
    prefers_b = (1 - FIRST) * sum(w == 4 for w in worths) / len(worths) + FIRST / 2
    mean_of_people = (1 - FIRST) * sum(worths) / len(worths) + FIRST * 3
    return {
        ("right", "accepted", "people", None): p,
        ("right", "kappa", "people", "people"): kappa,
        ("right", "alpha", "people", "people"): kappa,
        ("right", "exact_agreement", "people", "people"): kappa + (1 - kappa) * chance,
        ("right", "exact_agreement", "people", "themselves"): kappa + (1 - kappa) * chance,
        ("right", "over_selection", "gpt", "people"): (n_right + judged.n_false_accepts) / n_right,
        ("better", "b_no_better", "people", None): 1 - prefers_b,
        ("better", "prefers_first", "people", None): (n_decided / 2 + FIRST) / (n_decided + FIRST),
        ("better", "mean", "people", None): mean_of_people,
        ("better", "inflation", "gpt", "people"): sum(worths) / len(worths)
        + INFLATION
        - mean_of_people,
    }


def test_every_estimate_finds_what_was_planted(judged: Judged) -> None:
    rows = rows_of(
        judged.checkout,
        """SELECT scale, measure, raters, versus, estimate, ci_low, ci_high
        FROM 'RESULTS/judged/metrics/judgements.parquet'
        WHERE option IS NULL AND unit_group IS NULL AND ci_low IS NOT NULL""",
    )
    found = {
        (scale, measure, raters, versus): rest for scale, measure, raters, versus, *rest in rows
    }
    missed = {}
    for name, value in planted(judged).items():
        estimate, low, high = found[name]
        if not low <= value <= high:
            missed[name] = (value, estimate, low, high)
    assert missed == {}
    both_orders = rows_of(
        judged.checkout,
        """SELECT estimate FROM 'RESULTS/judged/metrics/judgements.parquet'
        WHERE measure = 'same_in_both_orders' AND raters = 'gpt'""",
    )
    assert [row[0] for row in both_orders] == [1.0]
