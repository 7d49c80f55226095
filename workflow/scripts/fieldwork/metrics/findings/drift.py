"""The section about waves of the same questions, and the sentence about them in the summary.

Promises that only a row with a verdict is said to have moved, and that waves without answers are named.
"""

from collections.abc import Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.drift.calls import lacks_answers
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_columns,
    row_cells,
    study_rows,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import (
    count_phrase,
    interval_cell,
    join_words,
    number_text,
    percent,
)
from fieldwork.records.drift import Drift, DriftMeasure

LONGEST_NAMES = 120
"""Letters of names and fingerprints that the summary prints."""
NAMED_MOVES = 2
"""Changes that the summary names."""

_NAMES: Mapping[DriftMeasure, str] = {
    "accuracy": "accuracy",
    "letters": "letters",
    "options": "options named",
    "length": "length, words",
    "refusals": "refusals",
    "format_failures": "unreadable answers",
    "latency": "waiting time, s",
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
_UNITS: Mapping[DriftMeasure, str] = {"length": "words", "latency": "s"}
_DIGITS: Mapping[DriftMeasure, int] = {"length": 1, "latency": 2}


def drift_sections(rows: Sequence[Drift], outline: StudyOutline) -> list[FindingsSection]:
    """The last wave beside the first, and what moved before; no section without waves."""
    if not rows:
        return []
    ordered_rows = study_rows(rows, outline, [*outline.conditions])
    last_look = _last_look(ordered_rows)
    named_rows = [row for row in ordered_rows if row.look == last_look or row.has_moved]
    findings = [
        Finding(
            (
                *row_cells(row, outline),
                literal(row.wave),
                _NAMES[row.measure],
                _value_cell(row, row.first_value),
                _value_cell(row, row.value),
                _change_cell(row),
            ),
            _verdict(row),
        )
        for row in named_rows
    ]
    return [
        FindingsSection(
            "The same questions after a time",
            "Did anything move since the first wave? Of letters and options the change is how many "
            "more of them differ than by chance. Shares are in %.",
            (*arm_columns(outline), "Wave", "Measure", "First", "Now", "Change", "Verdict"),
            findings,
            ["drift"],
            "No question is answered in two waves.",
            [_verdict(row) for row in ordered_rows if row not in named_rows],
        )
    ]


def drift_sentence(rows: Sequence[Drift], outline: StudyOutline) -> str:
    """Whether the last wave moved, and which waves have no answers; empty without waves."""
    ordered_rows = study_rows(rows, outline, [*outline.conditions])
    if not ordered_rows:
        return ""
    phrases = (_moves, _absences, _other_names)
    return "; ".join(text for phrase in phrases if (text := phrase(ordered_rows, outline)))


def _moves(rows: Sequence[Drift], outline: StudyOutline) -> str:
    last_look = _last_look(rows)
    tests = [row for row in rows if row.look == last_look and row.has_moved is not None]
    if not tests:
        return "no wave has answers with which a change since the first could be shown"
    wave = literal(tests[0].wave)
    first_wave = literal(min(row.first_wave or "" for row in tests))
    movers = [row for row in tests if row.has_moved]
    waves_before = {row.wave for row in rows if row.look < last_look and row.has_moved}
    past_moves = (
        f"; something had moved in {join_words([literal(w) for w in sorted(waves_before)])}"
        if waves_before
        else ""
    )
    n_tests = count_phrase(len(tests), "test")
    if not movers:
        return f"no change is detected in {n_tests} from {first_wave} to {wave}{past_moves}"
    phrases = [_move(row, outline, tests) for row in _furthest(movers)[:NAMED_MOVES]]
    return (
        f"answers changed from {first_wave} to {wave}, in {len(movers):,} of {n_tests} beyond chance: "
        f"{join_words(phrases)}{past_moves}"
    )


def drift_scores(rows: Sequence[Drift], outline: StudyOutline) -> str:
    """Right answers in the first and the last wave, of the tasks that come first."""
    ordered_rows = study_rows(rows, outline, [*outline.conditions])
    if not ordered_rows:
        return ""
    last_look = _last_look(ordered_rows)
    scores = [
        row
        for row in ordered_rows
        if row.measure == "accuracy" and row.look == last_look and row.first_value is not None
    ]
    texts = []
    for row in scores[:NAMED_MOVES]:
        model = [outline.models[row.model]] if len(outline.models) > 1 else []
        remark = "a change" if row.has_moved else "no change detected"
        names = ", ".join([literal(row.task), *model, remark])
        texts.append(
            f"{_value_text(row, row.first_value or 0.0)} at first, {_value_text(row, row.value or 0.0)} "
            f"at last ({names})"
        )
    return join_words(texts)


def _furthest(movers: Sequence[Drift]) -> list[Drift]:
    """The most certain changes first, each measure of an arm once."""
    return sorted(movers, key=lambda row: row.p_value if row.p_value is not None else 1.0)


def _move(row: Drift, outline: StudyOutline, tests: Sequence[Drift]) -> str:
    """`the accuracy of GPT-4 on primes fell from 84.0 % to 51.1 %`."""
    model = outline.models.get(row.model, row.model)
    place = f"on {literal(row.task)}"
    if len({test.condition for test in tests}) > 1:
        place += f" ({outline.label(row.condition)})"
    if row.first_value is None:
        amount = _link(percent(row.change or 0.0, digits=1), row, row.condition)
        return f"{model} {_PHRASES[row.measure]} {place} ({amount} of them, without what chance changes)"
    phrase = f"{_PHRASES[row.measure]} of {model} {place}"
    direction = "rose" if (row.change or 0.0) > 0 else "fell"
    first_value, value = (
        _link(_value_text(row, number), row, condition)
        for number, condition in (
            (row.first_value, row.first_condition or row.condition),
            (row.value or 0.0, row.condition),
        )
    )
    return f"{phrase} {direction} from {first_value} to {value}"


def _link(text: str, row: Drift, condition: str) -> str:
    return answers_link(text, model=row.model, task=row.task, condition=condition, base="counted")


def _absences(rows: Sequence[Drift], outline: StudyOutline) -> str:
    """`2026-W45 has no answers`, `2026-W45 has no answers of GPT-4 to primes`."""
    phrases = []
    for wave in sorted({row.wave for row in rows}):
        of_wave = [row for row in rows if row.wave == wave]
        absent_arms = {(row.task, row.model): None for row in of_wave if lacks_answers(row)}
        if not absent_arms:
            continue
        if all(map(lacks_answers, of_wave)):
            phrases.append(f"{literal(wave)} has no answers")
            continue
        by_model: dict[str, list[str]] = {}
        for task, model in absent_arms:
            by_model.setdefault(model, []).append(literal(task))
        names = [f"{outline.models.get(m, m)} to {join_words(t)}" for m, t in by_model.items()]
        phrases.append(f"{literal(wave)} has no answers of {', of '.join(names)}")
    return "; ".join(phrases)


def _other_names(rows: Sequence[Drift], outline: StudyOutline) -> str:
    """Models that the provider called otherwise in the last wave than in the first; no test."""
    last_look = _last_look(rows)
    names = {
        (row.model, row.first_returned_models, row.returned_models): None
        for row in rows
        if row.look == last_look
        and row.returned_models
        and row.first_returned_models
        and row.returned_models != row.first_returned_models
    }
    phrases = []
    for model, first_names, last_names in names:
        label = outline.models.get(model, model)
        is_short = len(f"{first_names}{last_names}") <= LONGEST_NAMES
        change = f": {literal(first_names)} before, {literal(last_names)} now" if is_short else ""
        phrases.append(f"{label} answers under other names or fingerprints{change}")
    return "; ".join(dict.fromkeys(phrases))


def _last_look(rows: Sequence[Drift]) -> int:
    """The last look with a verdict; without any, the last look."""
    return max(
        (row.look for row in rows if row.has_moved is not None),
        default=max((row.look for row in rows), default=0),
    )


def _verdict(row: Drift) -> FindingVerdict:
    if row.has_moved is None:
        return FindingVerdict(f"not tested: {literal(row.reason or 'no answers')}")
    if not row.has_moved:
        return FindingVerdict("no change shown", True)
    if row.first_value is None:
        return FindingVerdict("moved", True, True)
    return FindingVerdict("higher" if (row.change or 0.0) > 0 else "lower", True, True)


def _value_text(row: Drift, value: float) -> str:
    if row.measure in _UNITS:
        return f"{number_text(value, _DIGITS[row.measure])} {_UNITS[row.measure]}"
    return percent(value, digits=1)


def _value_cell(row: Drift, value: float | None) -> str:
    # the value of a distance is mostly chance
    if value is None or row.measure in ("letters", "options"):
        return "–"
    if row.measure in _UNITS:
        return number_text(value, _DIGITS[row.measure])
    return number_text(100 * value, 1)


def _change_cell(row: Drift) -> str:
    scale = 1 if row.measure in _UNITS else 100
    return interval_cell(
        row.change,
        row.ci_low,
        row.ci_high,
        digits=_DIGITS.get(row.measure, 1),
        scale=scale,
        is_difference=True,
    )
