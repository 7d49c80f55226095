"""The page from top to bottom: what was done, the summary, warnings, questions, limits, tables; every
text as it is.
"""

from pathlib import Path

from fieldwork import tables
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.replies import ReplyCounts
from fieldwork.records.claims import Claim
from fieldwork.records.field import RankAgreement
from fieldwork.records.metrics import Novelty, Shift
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    PHRASES,
    agreement_row,
    calibration_rows,
    category_row,
    comparison_row,
    entropy_row,
    evidence,
    exact_row,
    group_row,
    novelty_row,
    order_row,
    rank_row,
    score_row,
    shift_row,
    spread_row,
    variance_row,
)

ROWS = (
    *(variance_row(0.01), variance_row(0.01, task="mmlu")),
    *(comparison_row(0.01), comparison_row(0.9, condition="again")),
    *(shift_row(0.01), entropy_row(0.01), score_row(0.01), spread_row(), rank_row()),
    *(novelty_row(0.01), category_row(0.01), exact_row()),
    *(group_row(), order_row(), agreement_row(), *calibration_rows("calibrated")),
)
REPLIES = [ReplyCounts("m", "rec", "rag", 90, 0, 0)]


STUDY = OUTLINE._replace(phrases=PHRASES, corpora=["wild"])
FIELD_STUDY = FIELD_OUTLINE._replace(phrases=PHRASES, corpora=["wild"])


def headings(page: str, level: str) -> list[str]:
    """What the page is made of, in order."""
    return [line.removeprefix(level) for line in page.splitlines() if line.startswith(level)]


def part_of(page: str, heading: str) -> str:
    """What stands below a heading of the page, up to the next one of its kind."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_sections_stand_in_order() -> None:
    page = findings_page(evidence(*ROWS, outline=FIELD_OUTLINE), REPLIES, [], ["fig1"])
    assert headings(page, "## ") == [
        "In short", "Question by question", "What this cannot say", "Tables", "How it was made",
    ]  # fmt: skip
    assert headings(page, "### ") == [
        "cars", "Primary comparisons", "Who asks, and in which context", "Distance from T1",
        "Options that moved", "Heterogeneity", "Scores",
        "Places on the leaderboard", "Novelty", "Categories of subjects",
        "Without the chance of a draw",
        "Groups of real users: gender", "Does it predict the field?", "How near to the field",
        "Calibration to the field", "All tests",
    ]  # fmt: skip
    assert headings(part_of(page, "Question by question"), "### ") == ["cars"]
    assert "### All tests" in part_of(page, "Tables")
    assert page.startswith("# Findings of the study s\n\n## In short\n\n- ")
    end = (
        "\n\nFigures: figures/fig1.pdf\n\nThe answers behind every number: explorer/index.html\n\n"
        "Study: s; tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)\n"
    )
    assert end in page


def test_a_warning_stands_below_the_summary_which_counts_it() -> None:
    unread = [ReplyCounts("m", "rec", "rag", 90, 0, 80)]
    page = findings_page(evidence(*ROWS), unread, [], [], "2026-03-02, before any answer")
    paragraphs = part_of(page, "In short").strip().split("\n\n")
    sentences, warning, registration = paragraphs
    assert all(line.startswith("- ") for line in sentences.splitlines())
    assert "- **Doubt:** 1 warning below." in sentences.splitlines()
    assert warning.startswith("**Warning:** RAG, rec: of 90 answers 80 (89 %)")
    assert registration.startswith("**Preregistration:**")
    two = [*unread, ReplyCounts("m", "mmlu", "rag", 90, 0, 80)]
    page = findings_page(evidence(*ROWS), two, [], [])
    assert "**Doubt:** 2 warnings below." in page
    assert page.count("**Warning:**") == 2
    sound = findings_page(evidence(*ROWS), REPLIES, [], [])
    assert "**Warning" not in sound
    assert "**Doubt" not in sound


def design_replies(**users: int) -> list[ReplyCounts]:
    """Nine questions, asked 40 times without a user and again, and twice by each user."""
    replies = [
        ReplyCounts("m", "rec", condition, 360, 0, 0, n_questions=9)
        for condition in ("offline", "again")
    ]
    return replies + [
        ReplyCounts("m", "rec", condition, 18 * n, 0, 0, n_questions=9, n_users=n)
        for condition, n in users.items()
    ]


def design_of(replies: list[ReplyCounts], outline: StudyOutline) -> str:
    """What stands between the title and the summary."""
    page = findings_page(evidence(outline=outline), replies, [], [])
    return page.partition("\n")[2].partition("## In short")[0].strip()


def test_the_page_begins_with_what_was_done() -> None:
    repeats = "40 times each without a user and 40 times more to see what chance does"
    asked = f"Model answered 9 questions, {repeats}."
    assert design_of(design_replies(), STUDY) == asked
    simulated = (
        f"{asked} Then the same for 20 simulated users: after the most similar conversation and "
        "after a user's conversation. These users are simulated, made from conversations in the corpus "
        "*wild*."
    )
    assert design_of(design_replies(rag=20, history=12), STUDY) == simulated
    assert design_of(design_replies(rag=20, history=12, field=7), FIELD_STUDY) == (
        f"{simulated} Beside that, 7 real people asked the questions in their own chats."
    )
    assert design_of(design_replies(rag=1, field=1), FIELD_STUDY).endswith(
        "1 simulated user: after the most similar conversation. These users are simulated, made "
        "from conversations in the corpus *wild*. Beside that, 1 real person asked the questions "
        "in their own chats."
    )
    alone = design_of(design_replies(field=7), FIELD_STUDY)
    assert "simulated" not in alone
    assert "7 real people" in alone


def test_other_conditions_without_a_user_are_named() -> None:
    study = STUDY._replace(conditions={**STUDY.conditions, "later": "Later"})
    assert design_of(design_replies(later=0), study).endswith(" The same was asked Later.")


def test_before_any_answer_nothing_was_done() -> None:
    assert design_of([], STUDY) == ""
    assert design_of(REPLIES, STUDY) == ""


def test_names_of_conditions_stand_beside_their_phrases_at_the_end() -> None:
    made = part_of(
        findings_page(evidence(*ROWS, outline=STUDY), REPLIES, [], []), "How it was made"
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in made.splitlines()]
    assert ["RAG", "after the most similar conversation"] in rows
    assert ["T1 again", "repeated without a user"] in rows
    without_phrases = findings_page(evidence(*ROWS), REPLIES, [], [])
    assert "In tables and figures" not in without_phrases


def test_an_empty_study_has_a_page() -> None:
    page = findings_page(evidence(outline=OUTLINE._replace(notes=[])), [], [], [])
    assert "|" not in page
    assert "No answers have arrived" in page


MARKUP = "<b>[x](y)*"
PLAIN = r"&lt;b>\[x\](y)\*"


def test_labels_notes_options_and_prompts_are_no_markup() -> None:
    outline = OUTLINE._replace(
        models={"m": MARKUP, "n": "N"},
        conditions={**OUTLINE.conditions, "rag": MARKUP, "offline": MARKUP},
        notes=[MARKUP],
        phrases={"rag": f"after {MARKUP}"},
        corpora=[MARKUP],
        questions={
            ItemKey("rec", MARKUP): Item(MARKUP, "list", MARKUP, MARKUP, [], None, None, "test")
        },
    )
    study = evidence(
        variance_row(None, share_who=None, reason=f"nothing of {MARKUP}"),
        comparison_row(0.01, MARKUP),
        shift_row(0.01, item_id=MARKUP, answer=MARKUP),
        outline=outline,
    )
    replies = [ReplyCounts("m", "rec", "rag", 9, 1, 1, n_questions=1, n_users=9)]
    page = findings_page(study, replies, [], [])
    assert f"\n### {PLAIN}\n" in page
    assert page.count(PLAIN) > 10
    assert MARKUP not in page
    assert "<b>" not in page


def test_tables_are_read_by_the_names_of_their_files(tmp_path: Path) -> None:
    names = ("novelty", "shifts", "claims", "arms")
    paths = [str(tmp_path / f"{name}.parquet") for name in names]
    novelty = [novelty_row(0.01)]
    tables.write_table(paths[0], novelty, Novelty)
    tables.write_table(paths[1], [], Shift)
    tables.write_table(paths[2], [], Claim)
    study = StudyEvidence(OUTLINE, paths)
    assert (study.of(Novelty), study.of(Shift), [*study.claims]) == (novelty, [], [])
    # a study without real users lacks their tables
    assert study.of(RankAgreement) == ()
