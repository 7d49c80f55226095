"""Findings claim what a test shows and nothing else, with numbers, and say what is missing."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fieldwork.metrics.findings import answers as claims
from fieldwork.metrics.findings import page
from fieldwork.metrics.findings.page import Asked, Section, Study
from fieldwork.metrics.findings.phrases import (
    interval,
    literal,
    p_text,
    percent,
    percent_interval,
    points,
    signed,
)
from fieldwork.metrics.findings.phrases import (
    listed as in_words,
)
from fieldwork.records.metrics import Comparison, PromptMean, Shift, VarianceShare
from unit.metrics.metric_frames import answer_frame, chosen, listed

STUDY = Study(
    name="s",
    models={"m": "Model"},
    tasks=["rec", "mmlu"],
    conditions={"offline": "T1", "again": "T1 again", "rag": "RAG", "history": "History"},
    baseline="offline",
    users=["rag", "history"],
    controls=["again"],
    notes=["Not a chat model"],
)
WHERE = {"model": "m", "task": "rec", "condition": "rag"}


def filled(row_type: type[Any], **values: Any) -> Any:
    """A row of any table; what is not given is NULL, 0 or an empty text, as its type allows."""
    defaults = {"str": "", "int": 0, "float": 0.0}
    hints = {f.name: str(f.type) for f in dataclasses.fields(row_type)}
    missing = {
        name: None if "None" in hint else defaults.get(hint.partition("'")[2].rstrip("'>"), "")
        for name, hint in hints.items()
    }
    return row_type(**{**missing, **WHERE, **values})


def who(p: float | None, **values: Any) -> VarianceShare:
    share = {"share_who": 0.16, "ci_low": -0.124, "ci_high": 0.2, "p_value": p, "p_holm": p}
    counts = {"n_puppets": 40, "n_items": 9, "n_responses": 720, "n_repeated": 360}
    row: VarianceShare = filled(VarianceShare, **{**share, **counts, **values})
    return row


def apart(p: float | None, item: str = "i", **values: Any) -> Comparison:
    found = {"excess": 0.03, "p_value": p, "p_holm": p} if p is not None else {}
    counts = {"item_id": item, "metric": "js_bits", "n_units": 40, "n_units_baseline": 30}
    row: Comparison = filled(Comparison, **{**counts, **found, **values})
    return row


def moved(p: float, shift: float = -0.4, **values: Any) -> Shift:
    counts = {"n_named_baseline": 23, "n_baseline": 40, "n_named": 7, "n_answers": 40}
    found = {"baseline_share": 0.575, "share": 0.175, "ci_low": -0.57, "ci_high": -0.19}
    names = {"item_id": "i", "answer": "Tesla", "n_family": 194}
    test = {"shift": shift, "p_value": p, "p_holm": p}
    row: Shift = filled(Shift, **{**names, **test, **counts, **found, **values})
    return row


def varied(p: float | None, difference: float | None = 0.2, **values: Any) -> PromptMean:
    found = {"metric": "entropy_bits", "mean": 3.5, "ci_low": 3.4, "ci_high": 3.6, "unit": "puppet"}
    test = {"difference": difference, "difference_low": 0.1, "difference_high": 0.3, "p_holm": p}
    counts = {"n_items": 9, "n_equal": 40, "n_units": 40, "n_higher": 8}
    row: PromptMean = filled(PromptMean, **{**found, **test, **counts, **values})
    return row


CLAIMS = (
    "differ on",
    "differ,",
    "lies between",
    " moved",
    "vary more than",
    "more than T1 (",
)
"""What only a test may say."""


@pytest.mark.parametrize(
    ("section", "rows", "head", "line"),
    [
        (
            claims.who_asks,
            [who(0.002)],
            "Who asks accounts for up to 16 % of the variance of answers to one prompt",
            "RAG, rec: 16 % of the variance lies between users (95 % interval −12 to 20 %, p = 0.002; "
            "40 puppets, 9 prompts, 720 answers) [variance]",
        ),
        (
            claims.distance,
            [apart(0.01), apart(0.02, "j", excess=0.05), apart(0.6, "k")],
            "With a user, answers differ from T1 on up to 2 of 3 prompts (RAG, rec)",
            "RAG, rec: answers to 2 of 3 prompts differ, furthest j: +0.050 bits beyond chance, "
            "p = 0.020, n = 40 and 30 [comparisons]",
        ),
        (
            claims.options_moved,
            [moved(0.012)],
            "With a user, 1 of 1 shares of options moved, the furthest Tesla (i)",
            "RAG, rec: Tesla (i) from 23 of 40 answers (57.5 %) to 7 of 40 (17.5 %): −40 points, "
            "95 % interval −57 to −19 points, p = 0.012 among 194 options [shifts]",
        ),
        (
            claims.heterogeneity,
            [varied(0.0001)],
            "With a user, answers vary more than T1 in 1 and less in 0 of 1 case",
            "RAG, rec: entropy 3.50 bits, mean over 9 prompts at n = 40 (95 % interval 3.40 to 3.60; "
            "40 puppets), more than T1 (+0.20 bits, 95 % interval 0.10 to 0.30, p < 0.001; higher on "
            "8 of 9 prompts) [prompt_means]",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_a_claim_has_its_number_interval_n_and_test(section, rows, head: str, line: str) -> None:
    told = section(rows, STUDY)
    assert told.head.startswith(head)
    assert line in told.lines


@pytest.mark.parametrize(
    ("section", "rows"),
    [
        (claims.who_asks, [who(0.05)]),
        (claims.who_asks, [who(None, share_who=None, reason="no puppet answers twice")]),
        (claims.distance, [apart(0.05), apart(0.9, "j")]),
        (claims.distance, [apart(None, reason="no answer to i can be read")]),
        (claims.options_moved, [moved(0.05)]),
        (claims.heterogeneity, [varied(0.05)]),
        (claims.heterogeneity, [varied(None, 0.2, reason="no test: leaving out")]),
    ],
)
def test_what_no_test_shows_is_said_to_be_not_shown(section, rows: Sequence[Any]) -> None:
    told: Section = section(rows, STUDY)
    text = "\n".join([told.head, *told.lines[:1]])
    assert not [claim for claim in CLAIMS if claim in text], text
    assert "no " in told.lines[0]
    reasons = [row.reason for row in rows if row.reason]
    assert all(reason in told.lines[0] for reason in reasons)
    if not reasons:
        assert "p = 0.05" in told.lines[0]


@pytest.mark.parametrize(
    "section",
    [
        claims.who_asks,
        claims.distance,
        claims.options_moved,
        claims.heterogeneity,
    ],
)
def test_an_empty_table_claims_nothing(section) -> None:
    told = section([], STUDY)
    assert told.lines == []
    assert told.head.startswith(("No ", "With a user, no"))


def test_every_line_names_its_table() -> None:
    for told in (
        claims.who_asks([who(0.01)], STUDY),
        claims.distance([apart(0.01)], STUDY),
        claims.options_moved([moved(0.01)], STUDY),
        claims.heterogeneity([varied(0.01)], STUDY),
    ):
        assert all(line.endswith("]") for line in [*told.lines, told.head.rstrip(".")])


def test_a_control_is_told_and_never_heads() -> None:
    told = claims.distance([apart(0.9), apart(0.001, condition="again")], STUDY)
    assert told.head == (
        "No answers with a user are shown to differ from T1 [comparisons]. Where only chance or a "
        "changed model can differ, 1 difference came up as well (T1 again, rec)."
    )
    assert told.lines[0].startswith("T1 again, rec: answers to 1 of 1 prompt differ")


def test_only_the_furthest_options_are_told_with_a_caution() -> None:
    rows = [moved(0.5, shift=k / 100, answer=f"o{k}") for k in range(9)]
    told = claims.options_moved(rows, STUDY)
    names = [line.split(", ")[2].split(" ")[0] for line in told.lines[:-1]]
    assert names == ["o8", "o7", "o6", "o5", "o4"]
    assert "the largest are those that chance helped" in told.lines[-1]


def test_rows_stand_in_the_order_of_the_study() -> None:
    rows = [who(0.5, condition=c, task=t) for t in ("mmlu", "rec") for c in ("history", "rag")]
    told = claims.who_asks([*rows, who(0.5, model="other"), who(0.5, task="x")], STUDY)
    assert [line.split(":")[0] for line in told.lines] == [
        "RAG, rec", "History, rec", "RAG, mmlu", "History, mmlu",
    ]  # fmt: skip
    both = STUDY._replace(models={"z": "Zed", "m": "Model"})
    assert claims.who_asks([who(0.5)], both).lines[0].startswith("Model, RAG, rec:")


def test_what_came_back_is_counted() -> None:
    answers = listed(["a"], None) + chosen(["A", None], condition="d")
    answers += [
        dataclasses.replace(a, outcome="failed") for a in listed(None, condition="d", item_id="j")
    ]
    assert page.count_answers(answer_frame(answers)) == [
        Asked("m", "t", "c", 2, 0, 0, n_refused=1),
        Asked("m", "t", "d", 3, 1, 0, n_refused=1),
    ]
    assert page.count_answers(answer_frame([])) == []


def test_what_is_worth_nothing_is_counted_apart() -> None:
    answers = chosen(["A", "B", "A", "A", None])
    changes: list[dict[str, object]] = [
        {"outcome": "truncated"},
        {"outcome": "truncated", "letter": None, "reason": "no letter found"},
        {"outcome": "empty", "letter": None, "reason": "empty"},
        {"outcome": "filtered", "letter": None, "reason": "filtered by the provider"},
        {},
    ]
    rows = [dataclasses.replace(a, **c) for a, c in zip(answers, changes, strict=True)]
    assert page.count_answers(answer_frame(rows)) == [
        Asked("m", "t", "c", 5, 0, 2, n_refused=2, n_truncated=2, n_empty=1)
    ]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"n_unread": 90}, "of 90 answers 90 (100 %) cannot be read."),
        ({"n_unread": 19}, "of 90 answers 19 (21 %) cannot be read."),
        ({"n_unread": 18}, None),
        (
            {"n_unread": 0, "n_truncated": 90},
            "of 90 answers 90 (100 %) are cut off at the longest answer asked for (max_tokens).",
        ),
        (
            {"n_unread": 30, "n_empty": 30},
            "of 90 answers 30 (33 %) cannot be read, 30 (33 %) are empty.",
        ),
        ({"n_unread": 0, "n_refused": 90}, None),
    ],
)
def test_an_arm_that_is_worth_little_stands_above_all(
    counts: dict[str, int], said: str | None
) -> None:
    asked = Asked("m", "rec", "rag", 90, 0, 0)._replace(**counts)
    cautions = page.cautions([asked, Asked("m", "rec", "offline", 90, 0, 0)], STUDY)
    lines = page.render([Section("Title", "Head.", [])], STUDY, cautions)
    if said is None:
        assert cautions == []
        return
    assert lines[2].startswith(f"**Caution: RAG, rec: {said}")
    assert lines[2].endswith("**")
    assert lines.index(lines[2]) < lines.index("## Title")


@pytest.mark.parametrize(
    ("asked", "variance", "study", "said"),
    [
        ([Asked("m", "rec", "rag", 90, 2, 3)], [], STUDY, "RAG, rec: 2 calls failed and 3 answers"),
        (
            [Asked("m", "rec", "rag", 90, 2, 3)],
            [],
            STUDY,
            "Of 90 answers asked for, 5 failed or cannot",
        ),
        ([], [], STUDY, "No answers have arrived"),
        ([], [], STUDY, "Not a chat model."),
        ([], [who(None, n_repeated=0)], STUDY, "RAG: puppets were asked once"),
        ([], [], STUDY._replace(controls=[]), "No condition asks the baseline again"),
        ([], [], STUDY, "No answers of real users"),
    ],
)
def test_limits_say_what_is_missing(asked, variance, study: Study, said: str) -> None:
    told = page.limits(asked, variance, study)
    assert any(line.startswith(said) for line in [told.head, *told.lines])


def test_limits_tell_refusals_and_cut_answers_apart() -> None:
    asked = Asked("m", "rec", "rag", 90, 0, 3, n_refused=1, n_truncated=2)
    (line,) = [line for line in page.limits([asked], [], STUDY).lines if "RAG, rec" in line]
    assert line == (
        "RAG, rec: 0 calls failed, 3 answers cannot be read, 1 answer is a refusal and "
        "2 answers are cut off, of 90 [answers]"
    )


def test_a_count_of_refusals_is_read_beside_the_errors_of_the_parser() -> None:
    refusing = Asked("m", "rec", "rag", 90, 0, 3, n_refused=1)
    assert page.REFUSALS_ARE_READ in page.limits([refusing], [], STUDY).lines
    assert (
        page.REFUSALS_ARE_READ not in page.limits([refusing._replace(n_refused=0)], [], STUDY).lines
    )


def test_limits_tell_answers_that_could_be_another_models() -> None:
    unnamed = page.count_unnamed([("m", []), ("m", ["usage", "model"]), ("n", ["encoding"])])
    assert unnamed == [page.Unnamed("m", 2, 1)]
    (line,) = [line for line in page.limits([], [], STUDY, unnamed).lines if "[responses]" in line]
    assert line == (
        f"{STUDY.models['m']}: of 2 answers 1 came without the name of the model, so that another "
        f"model's would not be noticed [responses]"
    )


def test_limits_do_not_say_what_is_not_missing() -> None:
    study = STUDY._replace(conditions={**STUDY.conditions, "field": "Field"})
    told = page.limits([Asked("m", "rec", "rag", 9, 0, 0)], [who(0.1)], study)
    assert told.lines == ["Not a chat model.", told.lines[-1]]


def test_the_page_is_markdown() -> None:
    lines = page.render([Section("Title", "Head.", ["one [a]", "two."])], STUDY)
    assert lines[:3] == ["# Findings of the study s", "", "**Not a chat model.**"]
    assert lines[-6:] == ["## Title", "", "Head.", "", "- one [a].", "- two.", ""][-6:]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (p_text(0.0), "p < 0.001"),
        (p_text(0.0123), "p = 0.012"),
        (p_text(1.0), "p = 1.00"),
        (percent(-0.004), "0 %"),
        (percent(-0.116), "−12 %"),
        (percent(0.575, digits=1), "57.5 %"),
        (points(0.0), "0 points"),
        (points(0.384), "+38 points"),
        (signed(-0.0001, digits=3), "0.000"),
        (percent_interval(None, 0.5), "no interval"),
        (interval(-0.001, 0.5), "95 % interval 0.00 to 0.50"),
        (in_words([]), ""),
        (in_words(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_numbers_in_words(told: str, expected: str) -> None:
    assert told == expected


# ---- texts of users, models and participants ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Offline (T = 1)", "Offline (T = 1)"),
        ("Ben & Jerry's, R&D", "Ben & Jerry's, R&D"),
        ("history_100", "history_100"),
        ("C# and C++", "C# and C++"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        ("&lt;b>", "&amp;lt;b>"),
        ("*bold* and __bold__", r"\*bold\* and \_\_bold\_\_"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("`code` \\ ~~gone~~", r"\`code\` \\ \~\~gone\~\~"),
        ("# heading", r"\# heading"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("2) item", r"2\) item"),
        ("two\nlines\n\n# and more", "two lines # and more"),
        ("", ""),
    ],
)
def test_a_text_stands_in_the_findings_just_as_it_is(text: str, shown: str) -> None:
    assert literal(text) == shown


@given(st.text(st.sampled_from("ab1.)(*_`~[]<>&;#!-+=|\\\\ \n\t'\"é:/")))
def test_no_text_is_markup(text: str) -> None:
    """Rendered behind other words and as the beginning of an entry, a text is seen as it was."""
    seen = " ".join(text.split())
    markdown = MarkdownIt("commonmark", {"html": True}).enable("strikethrough")
    for line, expected in (
        (f"so {literal(text)} it is", f"so {seen} it is"),
        (literal(text), seen),
    ):
        (tokens,) = [t.children for t in markdown.parse(line) if t.type == "inline"] or [[]]
        assert {token.type for token in tokens or []} <= {"text", "text_special"}
        assert "".join(token.content for token in tokens or []) == (expected if seen else line)


MARKUP = "<b>[x](y)*"
PLAIN = r"&lt;b>\[x\](y)\*"


def test_labels_notes_options_and_prompts_are_no_markup() -> None:
    study = page.as_markdown(
        STUDY._replace(
            models={"m": MARKUP, "n": "N"},
            conditions={**STUDY.conditions, "rag": MARKUP, "offline": MARKUP},
            notes=[MARKUP],
        )
    )
    moved = filled(Shift, item_id=MARKUP, answer=MARKUP, shift=0.5, p_holm=0.01)
    sections = [
        claims.options_moved([moved], study),
        claims.distance([apart(0.01, MARKUP)], study),
        claims.who_asks([who(0.01)], study),
        page.limits([Asked("m", "rec", "rag", 9, 1, 1)], [], study),
    ]
    written = "\n".join(page.render(sections, study))
    assert written.count(PLAIN) > 10
    assert MARKUP not in written
    assert "<b>" not in written
