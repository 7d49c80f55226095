"""The page from top to bottom: warnings, six sentences, tables, limits; every text as it is."""

from pathlib import Path

from fieldwork import tables
from fieldwork.metrics.findings.evidence import (
    NO_CLAIMS,
    ROW_TYPES,
    FindingsTables,
    read_findings_tables,
)
from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.replies import ReplyCounts
from fieldwork.records.claims import Claim
from fieldwork.records.metrics import Novelty, Shift
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    accuracy_row,
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
    variance_row,
)

TABLES = evidence(
    variance=[variance_row(0.01), variance_row(0.01, task="mmlu")],
    comparisons=[comparison_row(0.01), comparison_row(0.9, condition="again")],
    shifts=[shift_row(0.01)],
    prompt_means=[entropy_row(0.01)],
    accuracy=[accuracy_row()],
    score_comparisons=[score_row(0.01)],
    ranks=[rank_row()],
    novelty=[novelty_row(0.01)],
    categories=[category_row(0.01)],
    exact_estimates=[exact_row()],
    group_differences=[group_row()],
    rank_agreement=[order_row()],
    item_agreement=[agreement_row()],
    calibration=calibration_rows("calibrated"),
)
REPLIES = [ReplyCounts("m", "rec", "rag", 90, 0, 0)]


def test_every_table_has_its_row_type() -> None:
    assert (*ROW_TYPES, "claims") == FindingsTables._fields


def test_sections_stand_in_order() -> None:
    page = findings_page(TABLES, REPLIES, [], FIELD_OUTLINE, ["fig1"])
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [
        "In short", "Primary comparisons", "Who asks, and in which context", "Distance from T1",
        "Options that moved", "Heterogeneity", "Scores",
        "Places on the leaderboard", "Novelty", "Categories of subjects",
        "Without the chance of a draw",
        "Groups of real users: gender", "Does it predict the field?", "How near to the field",
        "Calibration to the field", "All tests", "What this cannot say",
    ]  # fmt: skip
    assert page.startswith(
        "# Findings of the study s\n\n**Note:** Not a chat model.\n\n## In short\n"
    )
    end = (
        "\n\nFigures: figures/fig1.pdf\n\nThe answers behind every number: explorer/index.html\n\n"
        "Tables: metrics/\\*.csv; SQL: study.duckdb (docs/data.md)\n"
    )
    assert end in page


def test_a_question_is_the_title_as_it_is_written() -> None:
    page = findings_page(TABLES, REPLIES, [], OUTLINE._replace(question="Is *it* so?"), [])
    assert page.startswith("# Is \\*it\\* so?\n\nFindings of the study s.\n\n**Note:**")


def test_a_warning_stands_above_all() -> None:
    unread = [ReplyCounts("m", "rec", "rag", 90, 0, 80)]
    page = findings_page(TABLES, unread, [], OUTLINE, [])
    assert page.splitlines()[2].startswith("**Warning:** RAG, rec: of 90 answers 80 (89 %)")
    assert "**Warning" not in findings_page(TABLES, REPLIES, [], OUTLINE, [])


def test_an_empty_study_has_a_page() -> None:
    page = findings_page(FindingsTables(), [], [], OUTLINE._replace(notes=[]), [])
    assert "|" not in page
    assert "No answers have arrived" in page


MARKUP = "<b>[x](y)*"
PLAIN = r"&lt;b>\[x\](y)\*"


def test_labels_notes_options_and_prompts_are_no_markup() -> None:
    outline = OUTLINE._replace(
        models={"m": MARKUP, "n": "N"},
        conditions={**OUTLINE.conditions, "rag": MARKUP, "offline": MARKUP},
        notes=[MARKUP],
    )
    tables = evidence(
        variance=[variance_row(None, share_who=None, reason=f"nothing of {MARKUP}")],
        comparisons=[comparison_row(0.01, MARKUP)],
        shifts=[shift_row(0.01, item_id=MARKUP, answer=MARKUP)],
    )
    page = findings_page(tables, [ReplyCounts("m", "rec", "rag", 9, 1, 1)], [], outline, [])
    assert page.count(PLAIN) > 10
    assert MARKUP not in page
    assert "<b>" not in page


def test_a_preregistration_stands_above_the_summary() -> None:
    page = findings_page(TABLES, REPLIES, [], OUTLINE, [], "2026-03-02, before any answer")
    head = page.partition("## In short")[0]
    assert "**Preregistration:** 2026-03-02, before any answer\n" in head
    assert "Preregistration" not in findings_page(TABLES, REPLIES, [], OUTLINE, [])


def test_tables_are_read_by_the_names_of_their_files(tmp_path: Path) -> None:
    names = ("novelty", "shifts", "claims", "arms")
    paths = [str(tmp_path / f"{name}.parquet") for name in names]
    novelty = [novelty_row(0.01)]
    tables.write_table(paths[0], novelty, Novelty)
    tables.write_table(paths[1], [], Shift)
    tables.write_table(paths[2], [], Claim)
    # the table of arms is not read, so it need not be there
    evidence_of_study = read_findings_tables(paths)
    assert [*evidence_of_study.claims] == []
    rows = evidence_of_study._replace(claims=NO_CLAIMS)
    assert rows == FindingsTables(novelty=novelty, shifts=[])
