"""A field study from its survey page to its own page: filled in, imported, measured, drawn, and read.

Marks, findings and shares of its page lead to the answers that its tables count. The forty participants
are synthetic (tests/field_data/README.md), with personal data and junk planted.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import Seen, Written, render_survey, save_file, watched_pages
from browser.study_pages import Visit, follow, marks_of, n_answers, sample, study_page
from field_data.synthetic import AGE_BANDS, GROUPS, MODEL_IN_FILE, SyntheticField, make_field
from fieldwork import tables
from fieldwork.explorer.linked_figures import mark_address
from fieldwork.field.kit.survey import page_map
from fieldwork.records.field import FIELD
from workflow.conftest import TINY, Checkout, copy_project, rows_of

__all__ = ["study_page"]

pytestmark = [pytest.mark.browser, pytest.mark.workflow]

FOLDER = "resources/field"
KIT: dict[str, Any] = {
    "platforms": {"embedded": MODEL_IN_FILE},
    "repeats": 1,
    "groups": {
        "group": {"question": "Which of these describes you?", "options": list(GROUPS)},
        "age": {"question": "How old are you?", "options": list(AGE_BANDS)},
    },
}
# users asked again, so that the first answer of each is not all of them
TWICE = {"history": {"replicates": 2}, "profile": {"replicates": 1}}


@pytest.fixture(scope="module")
def synthetic() -> SyntheticField:
    return make_field()


@pytest.fixture(scope="module")
def page_file(synthetic: SyntheticField, tmp_path_factory: pytest.TempPathFactory) -> Written:
    items: dict[str, list[Any]] = {}
    for (task, _), item in synthetic.items.items():
        items.setdefault(task, []).append(item)
    return render_survey(tmp_path_factory.mktemp("page"), items, KIT, {"embedded": "Embedded"})


# all of it, in one call to the browser: the same events on the same elements
FILL_IN = """([choices, answers]) => {
  const press = place => document.querySelector(place).click();
  press("#agree");
  press("#consent-form button");
  const labels = [...document.querySelectorAll("#about label")];
  for (const text of choices) labels.find(label => label.textContent.trim() === text).click();
  press("#about-form .main");
  const box = document.querySelector("#answer");
  for (const _ in answers) {
    box.value = answers[document.querySelector("#prompt").textContent];
    box.dispatchEvent(new Event("input", {bubbles: true}));
    press("#next");
  }
}"""


def fill_in(page: Page, survey: Written, row: dict[str, str], *, by_hand: bool) -> None:
    """Answer every prompt as a participant does."""
    page.goto(survey.address + f"?participant={row['panel_id']}")
    page.locator("#agree").wait_for()
    keys = {prompt.text: prompt.item_id for prompt in survey.survey.prompts}
    choices = [MODEL_IN_FILE, row["group"], row["age_band"]]
    if not by_hand:
        answers = {text: row[f"Q_{item}"] for text, item in keys.items()}
        page.evaluate(FILL_IN, [choices, answers])
        return
    page.get_by_label("I have read this information").check()
    page.get_by_role("button", name="Begin").click()
    for label in choices:
        page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="Continue").click()
    for _ in keys:
        item_id = keys[page.locator("#prompt").text_content() or ""]
        page.get_by_label("Copy the whole").fill(row[f"Q_{item_id}"])
        page.locator("#next").click()


@pytest.fixture(scope="module")
def study(
    browser: Browser,
    synthetic: SyntheticField,
    page_file: Written,
    tmp_path_factory: pytest.TempPathFactory,
) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("field") / "project")
    (made.root / FOLDER).mkdir(parents=True)
    with watched_pages(browser, Seen()) as open_address:
        page = open_address("about:blank")
        for number, row in enumerate(synthetic.wide):
            fill_in(page, page_file, row, by_hand=number < 2)
            file = save_file(page, "Save my answers")
            file.rename(made.root / FOLDER / file.name)
    # with the answers of its participants in the page, so that nothing planted may be there
    overlay = TINY | {
        "conditions": TWICE,
        "field": page_map(page_file.survey, FOLDER),
        "explorer": {"field": True},
    }
    finished = made.make("all", study=made.study("field", overlay))
    (made.root / "logs/terminal.log").write_text(finished.stdout + finished.stderr)
    return made


def test_what_was_planted_is_found_and_counted(study: Checkout, synthetic: SyntheticField) -> None:
    flagged = rows_of(
        study,
        """SELECT "check", sum(n_flagged)::INT FROM 'RESULTS/field/field/quality.csv'
        WHERE "check" != 'any' GROUP BY ALL HAVING sum(n_flagged) > 0""",
    )
    assert dict(flagged) == synthetic.flagged


def test_the_field_is_measured_and_drawn_as_one_more_condition(study: Checkout) -> None:
    ((n_equal, n_answers, n_unread),) = rows_of(
        study,
        """SELECT n_equal, n_responses, n_unread FROM 'RESULTS/field/metrics/heterogeneity.csv'
        WHERE condition = 'field' AND item_id = 'companies' AND metric = 'entropy_bits'""",
    )
    assert n_equal == 3
    assert 30 <= n_answers <= n_answers + n_unread <= 40
    shares = rows_of(
        study,
        """SELECT answer, is_correct, share FROM 'RESULTS/field/metrics/distributions.parquet'
        WHERE condition = 'field' AND item_id = 'sample_medicine-000'""",
    )
    # the synthetic field answers right 55 to 85 times in a hundred
    assert max(shares, key=lambda row: row[2])[1]
    drawn = {path.stem for path in (study.root / "results/field/figures").glob("*.pdf")}
    assert drawn == {
        *("fig1", "fig2", "fig3", "fig4", "fig5"),
        *("calibration", "field_ranks", "field_groups", "who_asks"),
    }
    for figure in ("fig1", "fig2", "fig4"):
        # glyphs are drawn, with each text in a comment before them
        assert "Field" in (study.root / f"results/field/figures/{figure}.svg").read_text()


def test_no_participant_and_nothing_planted_is_anywhere(
    study: Checkout, synthetic: SyntheticField
) -> None:
    ((n_masked,),) = rows_of(
        study, "SELECT sum(n_masked) FROM 'RESULTS/field/field/answers.parquet'"
    )
    assert n_masked == synthetic.n_masked
    key = (study.root / "resources/field/key").read_text().strip()
    places = [p for folder in ("results", "logs") for p in (study.root / folder).rglob("*")]
    contents = {p: p.read_bytes() for p in places if p.is_file()}
    compressed = [p for p in contents if p.suffix == ".parquet"]
    assert len(compressed) > 20
    for table in compressed:
        contents[table] = str(tables.read_arrow(table).to_pylist()).encode()
    for secret in (*synthetic.planted, key):
        assert not [p for p, content in contents.items() if secret.encode() in content], secret


FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks", "field_groups")


def test_marks_lead_to_the_answers_that_the_tables_count(
    study: Checkout, study_page: Visit
) -> None:
    results = study.results("field")
    page = study_page(results)
    for figure in FIGURES:
        marks = marks_of(results, figure)
        assert page.locator(f"#figure-{figure} a.mark").count() == len(marks) > 0
        # some from all over the figure, of a condition asked twice, and of the field
        chosen = sample(marks)
        for condition in ("history", FIELD):
            chosen += sample([mark for mark in marks if mark.condition == condition])[-1:]
        assert FIELD in {mark.condition for mark in chosen}
        counts = []
        for mark in dict.fromkeys(chosen):
            follow(page.locator(f"#mark-{figure}-{mark.number}"))
            n = n_answers(results, mark)
            counts.append(n)
            # figures of whole runs, curves and users count answers only where their table does
            assert mark.n in (n, None), mark
            expect(page.locator(".total")).to_contain_text(
                re.compile(rf"^{n:,} answers?, [\d,]+ read$")
            )
            assert page.evaluate("location.hash") == mark_address(mark)
            page.go_back()
            expect(page.locator("#start")).to_be_visible()
        assert sum(n > 0 for n in counts) >= len(counts) / 2


def test_two_conditions_side_by_side_have_the_shares_of_the_tables(
    study: Checkout, study_page: Visit
) -> None:
    counts = rows_of(
        study,
        """SELECT answer, any_value(n_named) FILTER (condition = 'offline'),
        any_value(n_named) FILTER (condition = 'history')
        FROM 'RESULTS/field/metrics/item_shares.parquet'
        WHERE task = 'recommendations' AND item_id = 'hobbies' GROUP BY answer""",
    )
    fragment = (
        "#/compare?task=recommendations&item=hobbies&condition=offline&other=history&base=first"
    )
    page = study_page(study.results("field"), fragment)
    page_shares = {}
    for row in page.locator("table.shares tbody tr").all():
        name = row.locator("th").first.inner_text().split("\n")[0]
        numbers = re.findall(r"\((\d+)\)", row.inner_text())
        if len(numbers) == 2:
            page_shares[name] = (int(numbers[0]), int(numbers[1]))
    # the page lists so many at once, the commonest first
    pairs = {name: (alone or 0, user or 0) for name, alone, user in counts if alone or user}
    assert page_shares.items() <= pairs.items()
    assert len(page_shares) == min(len(pairs), 25)
    assert max(map(sum, page_shares.values())) == max(map(sum, pairs.values()))
