"""A field study from its survey page to the last figure: filled in a browser, imported, measured, drawn.

The forty participants are synthetic (tests/field_data/README.md), with personal data and junk planted.
"""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import Written, render_survey
from browser.study_pages import Visit, follow, marks_of, n_answers, sample, study_page
from field_data.synthetic import AGE_BANDS, GROUPS, MODEL_IN_FILE, SyntheticField, make_field
from fieldwork import tables
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


@pytest.fixture(scope="module")
def synthetic() -> SyntheticField:
    return make_field()


@pytest.fixture(scope="module")
def page_file(synthetic: SyntheticField, tmp_path_factory: pytest.TempPathFactory) -> Written:
    items: dict[str, list[Any]] = {}
    for (task, _), item in synthetic.items.items():
        items.setdefault(task, []).append(item)
    return render_survey(tmp_path_factory.mktemp("page"), items, KIT, {"embedded": "Embedded"})


# every prompt that is left, in one call to the browser: the same events on the same elements
ANSWER_ALL = """answers => {
  for (const _ in answers) {
    const box = document.querySelector("#answer");
    box.value = answers[document.querySelector("#prompt").textContent];
    box.dispatchEvent(new Event("input", {bubbles: true}));
    document.querySelector("#next").click();
  }
}"""


def fill_in(
    page: Page, survey: Written, row: dict[str, str], folder: Path, *, by_hand: bool
) -> None:
    """Answer every prompt as a participant does, and save the file."""
    page.goto(survey.address + f"?participant={row['panel_id']}")
    page.get_by_label("I have read this information").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_label(MODEL_IN_FILE).check()
    page.get_by_label(row["group"], exact=True).check()
    page.get_by_label(row["age_band"], exact=True).check()
    page.get_by_role("button", name="Continue").click()
    keys = {prompt.text: prompt.item_id for prompt in survey.survey.prompts}
    if by_hand:
        for _ in keys:
            item_id = keys[page.locator("#prompt").text_content() or ""]
            page.get_by_label("Copy the whole").fill(row[f"Q_{item_id}"])
            page.locator("#next").click()
    else:
        page.evaluate(ANSWER_ALL, {text: row[f"Q_{item}"] for text, item in keys.items()})
    with page.expect_download() as download:
        page.get_by_role("button", name="Save my answers").click()
    download.value.save_as(folder / download.value.suggested_filename)


@pytest.fixture(scope="module")
def study(
    browser: Browser,
    synthetic: SyntheticField,
    page_file: Written,
    tmp_path_factory: pytest.TempPathFactory,
) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("field") / "project")
    (made.root / FOLDER).mkdir(parents=True)
    for number, row in enumerate(synthetic.wide):
        context = browser.new_context()
        fill_in(context.new_page(), page_file, row, made.root / FOLDER, by_hand=number < 3)
        context.close()
    # with the answers of its participants in the page, so that nothing planted may be there
    overlay = TINY | {"field": page_map(page_file.survey, FOLDER), "explorer": {"field": True}}
    finished = made.snakemake("all", "--configfile", str(made.study("field", overlay)))
    assert finished.returncode == 0, finished.stderr[-3000:]
    (made.root / "logs/terminal.log").write_text(finished.stdout + finished.stderr)
    return made


def test_every_participant_has_a_file_and_an_order_of_their_own(study: Checkout) -> None:
    ((n_files, n_people, n_orders),) = rows_of(
        study,
        """SELECT count(DISTINCT file), count(DISTINCT participant_id), count(DISTINCT order_of)
        FROM (SELECT *, list(item_id ORDER BY position) OVER (PARTITION BY participant_id
              ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS order_of
              FROM 'RESULTS/field/field/answers.parquet')""",
    )
    assert (n_files, n_people, n_orders) == (40, 40, 40)


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


def test_groups_and_order_are_tested_and_told(study: Checkout) -> None:
    """The synthetic groups prefer different options, and are of different ages by chance."""
    apart = rows_of(
        study,
        """SELECT variable, min(p_holm) FROM 'RESULTS/field/metrics/group_differences.parquet'
        WHERE metric = 'js_bits' AND item_id IS NULL AND task = 'recommendations'
        GROUP BY ALL""",
    )
    assert dict(apart)["group"] < 0.05 < dict(apart)["age"]
    told = (study.root / "results/field/findings.md").read_text(encoding="utf-8")
    for heading in ("Groups of real users", "Does it predict the field?", "Calibration"):
        assert f"## {heading}" in told


def test_three_answers_an_arm_calibrate_nothing(study: Checkout) -> None:
    verdicts = rows_of(
        study,
        """SELECT DISTINCT verdict FROM 'RESULTS/field/metrics/calibration.parquet'
        WHERE verdict IS NOT NULL""",
    )
    assert verdicts == [("cannot support",)]
    weights = rows_of(
        study,
        """SELECT count(*), count(weight), count(reason)
        FROM 'RESULTS/field/metrics/calibration_weights.parquet'""",
    )
    assert weights[0][0] == weights[0][2] > 0 == weights[0][1]


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


def test_the_database_has_the_field(study: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.root)
    with duckdb.connect("results/field/study.duckdb", read_only=True) as database:
        ((n_answers,),) = database.sql("SELECT count(*) FROM field_answers").fetchall()
        ((n_groups,),) = database.sql("SELECT count(*) FROM field_participants").fetchall()
    assert (n_answers, n_groups) == (520, 80)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig4", "field_groups"])
def test_marks_of_the_field_lead_to_masked_answers(
    study: Checkout, study_page: Visit, figure: str
) -> None:
    results = study.results("field")
    marks = [mark for mark in marks_of(results, figure) if mark.condition == FIELD]
    assert marks
    page = study_page(results)
    for mark in sample(marks)[:3]:
        follow(page.locator(f"#mark-{figure}-{mark.number}"))
        n = n_answers(results, mark)
        assert mark.n in (n, None)
        expect(page.locator(".total")).to_contain_text(f"{n} answer")
        page.go_back()
        expect(page.locator("#start")).to_be_visible()
