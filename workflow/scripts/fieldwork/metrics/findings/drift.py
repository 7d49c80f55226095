"""The section about waves of the same questions, and the sentence about them in the summary.

Promises that only a row with a verdict is said to have moved, and that waves without answers are named.
"""

from collections.abc import Iterator, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.drift.calls import lacks_answers
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.outline import StudyOutline, groups, task_name
from fieldwork.metrics.findings.sections import (
    ARM,
    Section,
    TableColumn,
    interval,
    style_of,
    text,
    words_of_style,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import (
    NOTHING,
    NumberStyle,
    count_phrase,
    join_words,
    percent,
)
from fieldwork.records.drift import Drift, DriftMeasure

LONGEST_NAMES = 120
"""Letters of names and fingerprints that the summary prints."""
NAMED_MOVES = 2
"""Changes that the summary names."""

_STYLES: Mapping[DriftMeasure, NumberStyle] = {
    "accuracy": NumberStyle("accuracy", 1, 100, "%"),
    "letters": NumberStyle("letters", 1, 100, "%"),
    "options": NumberStyle("options named", 1, 100, "%"),
    "length": NumberStyle("length, words", 1, 1, "words"),
    "refusals": NumberStyle("refusals", 1, 100, "%"),
    "format_failures": NumberStyle("unreadable answers", 1, 100, "%"),
    "latency": NumberStyle("waiting time, s", 2, 1, "s"),
}
_PHRASES: Mapping[DriftMeasure, str] = {
    "accuracy": "the accuracy",
    "letters": "gives other answers",
    "options": "names other options",
    "length": "the mean length",
    "refusals": "the share of refusals",
    "format_failures": "the share of unreadable answers",
    "latency": "the median waiting time",
}
_STYLE = style_of("measure", _STYLES)


def _value_cell(row: Drift, value: float | None) -> str:
    # the value of a distance is mostly chance
    return NOTHING if row.measure in ("letters", "options") else _STYLE(row).number(value)


def _last_look(rows: Sequence[Drift]) -> int:
    """The last look with a verdict; without any, the last look."""
    return max(
        (row.look for row in rows if row.has_moved is not None),
        default=max((row.look for row in rows), default=0),
    )


def _last_and_moved(rows: Sequence[Drift], _: StudyEvidence) -> list[Drift]:
    """The last wave beside the first, and what moved before."""
    last_look = _last_look(rows)
    return [row for row in rows if row.look == last_look or row.has_moved]


def _verdict(row: Drift, _: StudyEvidence) -> FindingVerdict:
    if row.has_moved is None:
        return FindingVerdict(f"not tested: {literal(row.reason or 'no answers')}")
    if not row.has_moved:
        return FindingVerdict("no change shown", True)
    direction = "higher" if (row.change or 0.0) > 0 else "lower"
    return FindingVerdict("moved" if row.first_value is None else direction, True, True)


DRIFT = Section(
    "The same questions after a time",
    "Did anything move since the first wave? Of letters and options the change is how many "
    "more of them differ than by chance. Shares are in %.",
    ["drift"],
    lambda study: study.rows(Drift),
    [
        *ARM,
        TableColumn("Wave", text("wave")),
        TableColumn("Measure", words_of_style(_STYLE)),
        TableColumn("First", lambda row, _: _value_cell(row, row.first_value)),
        TableColumn("Now", lambda row, _: _value_cell(row, row.value)),
        TableColumn("Change", interval("change", lambda row: _STYLE(row).as_difference)),
    ],
    _verdict,
    listed_rows=_last_and_moved,
)

# ---- in sentences ------------------------------------------------------------------------------------


def drift_sentence(study: StudyEvidence) -> str:
    """Whether the last wave moved, and which waves have no answers; empty without waves."""
    rows = study.rows(Drift)
    if not rows:
        return ""
    parts = (
        _moves(rows, study.outline),
        *_absences(rows, study.outline),
        *_renamings(rows, study.outline),
    )
    return "; ".join(parts)


def _moves(rows: Sequence[Drift], outline: StudyOutline) -> str:
    last_look = _last_look(rows)
    tests = [row for row in rows if row.look == last_look and row.has_moved is not None]
    if not tests:
        return "no wave has answers with which a change since the first could be shown"
    wave = literal(tests[0].wave)
    first_wave = literal(min(row.first_wave or "" for row in tests))
    waves_before = sorted({row.wave for row in rows if row.look < last_look and row.has_moved})
    names_before = join_words([*map(literal, waves_before)])
    past_moves = f"; something had moved in {names_before}" if waves_before else ""
    n_tests = count_phrase(len(tests), "test")
    # the most certain changes first
    movers = sorted(
        (row for row in tests if row.has_moved),
        key=lambda row: row.p_value if row.p_value is not None else 1.0,
    )
    if not movers:
        return f"no change is detected in {n_tests} from {first_wave} to {wave}{past_moves}"
    is_condition_named = len({test.condition for test in tests}) > 1
    phrases = [_move(row, outline, is_condition_named) for row in movers[:NAMED_MOVES]]
    return (
        f"answers changed from {first_wave} to {wave}, in {len(movers):,} of {n_tests} beyond chance: "
        f"{join_words(phrases)}{past_moves}"
    )


def drift_scores(study: StudyEvidence) -> str:
    """Right answers in the first and the last wave, of the tasks that come first."""
    rows = study.rows(Drift)
    last_look = _last_look(rows)
    scores = [
        row
        for row in rows
        if row.measure == "accuracy" and row.look == last_look and row.first_value is not None
    ]
    texts = []
    for row in scores[:NAMED_MOVES]:
        first_value, value = (_STYLE(row).amount(v or 0.0) for v in (row.first_value, row.value))
        remark = "a change" if row.has_moved else "no change detected"
        texts.append(
            f"{first_value} at first, {value} at last ({task_name(row, study.outline)}, {remark})"
        )
    return join_words(texts)


def _move(row: Drift, outline: StudyOutline, is_condition_named: bool) -> str:
    """`the accuracy of GPT-4 on primes fell from 84.0 % to 51.1 %`."""
    model = outline.models.get(row.model, row.model)
    place = f"on {literal(row.task)}"
    if is_condition_named:
        place += f" ({outline.label(row.condition)})"
    if row.first_value is None:
        amount = _link(percent(row.change or 0.0, digits=1), row, row.condition)
        return f"{model} {_PHRASES[row.measure]} {place} ({amount} of them, without what chance changes)"
    direction = "rose" if (row.change or 0.0) > 0 else "fell"
    first_value = _link(
        _STYLE(row).amount(row.first_value or 0.0), row, row.first_condition or row.condition
    )
    value = _link(_STYLE(row).amount(row.value or 0.0), row, row.condition)
    return f"{_PHRASES[row.measure]} of {model} {place} {direction} from {first_value} to {value}"


def _link(text: str, row: Drift, condition: str) -> str:
    return answers_link(text, model=row.model, task=row.task, condition=condition, base="counted")


def _absences(rows: Sequence[Drift], outline: StudyOutline) -> Iterator[str]:
    """`2026-W45 has no answers`, `2026-W45 has no answers of GPT-4 to primes`."""
    for of_wave in groups(sorted(rows, key=lambda row: row.wave), lambda row: row.wave):
        absent_rows = [row for row in of_wave if lacks_answers(row)]
        if not absent_rows:
            continue
        names = ""
        if len(absent_rows) < len(of_wave):
            names = ", of ".join(
                f"{outline.models.get(rows[0].model, rows[0].model)} to "
                f"{join_words([*dict.fromkeys(literal(row.task) for row in rows)])}"
                for rows in groups(absent_rows, lambda row: row.model)
            )
        yield f"{literal(of_wave[0].wave)} has no answers{f' of {names}' if names else ''}"


def _renamings(rows: Sequence[Drift], outline: StudyOutline) -> Iterator[str]:
    """Models that the provider called otherwise in the last wave than in the first; no test."""
    last_look = _last_look(rows)
    phrases: dict[str, None] = {}
    for row in rows:
        first_names, names = row.first_returned_models, row.returned_models
        if row.look == last_look and first_names and names and first_names != names:
            is_short = len(f"{first_names}{names}") <= LONGEST_NAMES
            change = f": {literal(first_names)} before, {literal(names)} now" if is_short else ""
            label = outline.models.get(row.model, row.model)
            phrases[f"{label} answers under other names or fingerprints{change}"] = None
    yield from phrases
