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
from fieldwork.records.metrics import Novelty
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


def part_of(page: str, heading: str) -> str:
    """What stands below a heading of the page, up to the next one of its kind."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_the_page_has_a_title_sections_by_table_and_where_all_of_it_is() -> None:
    page = findings_page(evidence(*ROWS, outline=FIELD_OUTLINE), REPLIES, [], ["fig1"])
    assert page.startswith("# Findings of the study s\n\n## In short\n\n- ")
    assert "\n### cars\n" in part_of(page, "Question by question")
    assert "\n### Scores\n" in part_of(page, "Tables")
    assert "\n### All tests\n" in part_of(page, "Tables")
    assert "- Not a chat model.\n" in part_of(page, "What this cannot say")
    assert "\n\nFigures: figures/fig1.pdf\n\n" in part_of(page, "How it was made")
    empty = findings_page(evidence(outline=OUTLINE._replace(question="Is *it* so?")), [], [], [])
    assert empty.startswith("# Is \\*it\\* so?\n\n## In short\n")
    assert "No answers have arrived" in empty


def test_a_warning_stands_below_the_summary_which_counts_it() -> None:
    unread = [ReplyCounts("m", task, "rag", 90, 0, 80) for task in ("rec", "mmlu")]
    page = findings_page(evidence(*ROWS), unread, [], [], "2026-03-02, before any answer")
    sentences, *doubts, registration = part_of(page, "In short").strip().split("\n\n")
    assert all(line.startswith("- ") for line in sentences.splitlines())
    assert "- **Doubt:** 2 warnings below." in sentences.splitlines()
    assert [text[:25] for text in doubts] == [
        "**Warning:** RAG, rec: of",
        "**Warning:** RAG, mmlu: o",
    ]
    assert registration == "**Preregistration:** 2026-03-02, before any answer"
    sound = findings_page(evidence(*ROWS), REPLIES, [], [])
    assert not [word for word in ("**Warning", "**Doubt", "Preregistration") if word in sound]


def design_replies(**users: int) -> list[ReplyCounts]:
    """Nine questions, asked 40 times without a user and again, and twice by each user."""
    counts = {"offline": (360, 0), "again": (360, 0)} | {c: (18 * n, n) for c, n in users.items()}
    return [
        ReplyCounts("m", "rec", condition, n, 0, 0, n_questions=9, n_users=n_users)
        for condition, (n, n_users) in counts.items()
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
    assert design_of(design_replies(rag=20, history=12, field=7), FIELD_STUDY) == (
        f"{simulated} Beside that, 7 real people asked the questions in their own chats."
    )
    assert "simulated" not in design_of(design_replies(field=7), FIELD_STUDY)
    assert design_of([], STUDY) == design_of(REPLIES, STUDY) == ""


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
    novelty = [novelty_row(0.01)]
    for name, rows, row_type in (("novelty", novelty, Novelty), ("claims", [], Claim)):
        tables.write_table(tmp_path / f"{name}.parquet", rows, row_type)
    study = StudyEvidence(OUTLINE, [str(path) for path in tmp_path.glob("*.parquet")])
    assert (study.of(Novelty), [*study.claims]) == (novelty, [])
    # a study without real users lacks their tables
    assert study.of(RankAgreement) == ()
