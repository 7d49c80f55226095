"""What was answered to each question under each condition, and whether it differs with a user.

A question differs where a claim about it does: that its answers do, that the share of an option does, or
that its values do. Owns that rule, which the summary and the questions one by one both follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.records.claims import Claim
from fieldwork.records.metrics import Comparison, Shift
from fieldwork.records.tasks import ItemKind
from fieldwork.records.values import ValueComparison, ValueEstimate

NAMED_OPTIONS = 3
"""Options of a question whose shares are shown."""

NO_DIFFERENCE, CANNOT_TELL = "not detected", "cannot tell"
_SINGLE_QUESTION = ("distance", "option_share", "value")
_HALF = 0.5


class ConditionAnswers(NamedTuple):
    """What was answered under one condition.

    Attributes:
        values: share of each option of the question, from 0 to 1, or the one mean or median.
        n: answers behind them, one a user or a rerun.
        size: how far they are from those without a user, from 0 to 1.
        n_missing: more of them, without a value.
    """

    condition: str
    values: Sequence[float | None]
    n: int
    verdict: FindingVerdict
    size: float
    n_missing: int = 0


class QuestionAnswers(NamedTuple):
    """A question to one model.

    Attributes:
        options: names or letters whose shares are shown, none of a question with values.
        rows: the baseline first.
        is_stated: whether shares are means of probabilities that answers state.
    """

    model: str
    task: str
    item_id: str
    kind: ItemKind
    options: Sequence[str]
    rows: Sequence[ConditionAnswers]
    is_stated: bool = False

    @property
    def baseline(self) -> ConditionAnswers:
        """What was answered without a user."""
        return self.rows[0]

    def rows_of(self, conditions: Sequence[str]) -> list[ConditionAnswers]:
        """The rows of some conditions."""
        return [row for row in self.rows if row.condition in conditions]

    def furthest(self, conditions: Sequence[str]) -> ConditionAnswers | None:
        """The condition whose shown difference is the largest; None where none is shown."""
        shown_rows = [row for row in self.rows_of(conditions) if row.verdict.is_shown]
        return max(shown_rows, key=lambda row: row.size, default=None)


_Key = tuple[str, str, str]


def question_answers(study: StudyEvidence) -> list[QuestionAnswers]:
    """Every question that was answered without a user too: those that differ with one first.

    Those that differ stand by the size of the difference, for simulated users before real ones, the
    others in the study's order.
    """
    outline = study.outline
    questions = [*_of_values(study)]
    keys = {(row.model, row.task, row.item_id) for row in questions}
    questions += [
        question
        for question in _of_options(study)
        if (question.model, question.task, question.item_id) not in keys
    ]
    tasks, models = [*outline.tasks], [*outline.models]

    def order(question: QuestionAnswers) -> tuple[float, float, int, str, int]:
        sizes = (
            -furthest.size if furthest else 1.0
            for furthest in map(question.furthest, (outline.simulated_users, outline.users))
        )
        place = tasks.index(question.task), question.item_id, models.index(question.model)
        size, size_of_any = sizes
        return (size, size_of_any, *place)

    return sorted(questions, key=order)


# ---- lists and letters -------------------------------------------------------------------------------


def _of_options(study: StudyEvidence) -> Iterator[QuestionAnswers]:
    conditions = [*study.outline.users, *study.outline.controls]
    shifts: dict[_Key, dict[str, list[Shift]]] = {}
    for row in study.rows(Shift, conditions):
        if row.answer is not None and row.n_baseline:
            key = row.model, row.task, row.item_id
            shifts.setdefault(key, {}).setdefault(row.condition, []).append(row)
    for key, rows in shifts.items():
        yield _options_of(key, rows, study)


def _options_of(
    key: _Key, shifts: Mapping[str, Sequence[Shift]], study: StudyEvidence
) -> QuestionAnswers:
    outline = study.outline
    first = next(iter(shifts.values()))[0]
    baseline_shares = {
        row.answer: row.baseline_share or 0.0 for rows in shifts.values() for row in rows
    }
    verdicts = {name: _joint_verdict(_option_claims(rows, study)) for name, rows in shifts.items()}
    options = _telling_options(shifts, verdicts, baseline_shares, outline)
    baseline = ConditionAnswers(
        outline.baseline,
        [baseline_shares[option] for option in options],
        first.n_baseline,
        FindingVerdict(""),
        0.0,
    )
    rows = [
        ConditionAnswers(
            name,
            [_share(option, rows) for option in options],
            rows[0].n_answers,
            verdicts[name],
            max(abs(row.shift or 0.0) for row in rows),
        )
        for name, rows in shifts.items()
    ]
    is_stated = any(row.is_stated for rows in shifts.values() for row in rows)
    all_rows = [baseline, *_in_order(rows, outline)]
    return QuestionAnswers(*key, first.kind, options, all_rows, is_stated)


def _option_claims(shifts: Sequence[Shift], study: StudyEvidence) -> list[Claim]:
    question = {"item_id": shifts[0].item_id, "metric": "js_bits"}
    claims = [study.claims.of("option_share", row) for row in shifts]
    claims += [
        study.claims.of("distance", row)
        for row in study.rows_beside(Comparison, shifts[0], **question)
    ]
    return [claim for claim in claims if claim]


def _share(option: str | None, rows: Sequence[Shift]) -> float | None:
    """An option that neither side names has no row, and nobody named it."""
    if not rows[0].n_answers:
        return None
    return next((row.share for row in rows if row.answer == option), 0.0)


def _telling_options(
    shifts: Mapping[str, Sequence[Shift]],
    verdicts: Mapping[str, FindingVerdict],
    baseline_shares: Mapping[str | None, float],
    outline: StudyOutline,
) -> list[str]:
    """The options that moved furthest where answers differ with a user, then the commonest without."""
    sizes: dict[str, float] = {}
    for name in outline.simulated_users:
        if name in shifts and verdicts[name].is_shown:
            for row in shifts[name]:
                sizes[row.answer or ""] = max(
                    sizes.get(row.answer or "", 0.0), abs(row.shift or 0.0)
                )
    movers = sorted(sizes, key=lambda option: (-sizes[option], option))
    commonest = sorted(baseline_shares, key=lambda option: (-baseline_shares[option], option or ""))
    return [*dict.fromkeys([*movers, *(option or "" for option in commonest)])][:NAMED_OPTIONS]


# ---- scales and numbers ------------------------------------------------------------------------------


def _of_values(study: StudyEvidence) -> Iterator[QuestionAnswers]:
    outline = study.outline
    conditions = [outline.baseline, *outline.users, *outline.controls]
    estimates: dict[_Key, dict[str, ValueEstimate]] = {}
    for row in study.rows(ValueEstimate, conditions):
        if row.item_id is not None:
            key = row.model, row.task, row.item_id
            estimates.setdefault(key, {})[row.condition] = row
    for key, rows in estimates.items():
        if outline.baseline not in rows:
            continue
        answers = [_values_of(row, study) for row in rows.values()]
        kind = rows[outline.baseline].kind
        yield QuestionAnswers(*key, kind, (), _in_order(answers, outline))


def _values_of(row: ValueEstimate, study: StudyEvidence) -> ConditionAnswers:
    question = {"item_id": row.item_id, "versus": study.outline.baseline}
    comparison = next(iter(study.rows_beside(ValueComparison, row, **question)), None)
    claim = study.claims.of("value", comparison) if comparison else None
    superiority = comparison.superiority if comparison else None
    return ConditionAnswers(
        row.condition,
        [row.median if row.kind == "number" else row.mean],
        row.n_units,
        _joint_verdict([claim] if claim else []),
        0.0 if superiority is None else 2 * abs(superiority - _HALF),
        row.n_missing,
    )


def _in_order(rows: Sequence[ConditionAnswers], outline: StudyOutline) -> list[ConditionAnswers]:
    """The baseline, asking again, then users."""
    order = [outline.baseline, *outline.controls, *outline.users]
    return sorted(rows, key=lambda row: order.index(row.condition))


def _joint_verdict(claims: Sequence[Claim]) -> FindingVerdict:
    """What the claims about one question under one condition show together."""
    differences = [claim for claim in claims if claim.verdict == "differs"]
    if differences:
        directions = [
            claim.direction
            for claim in differences
            if claim.measure == "value" and claim.direction and claim.direction != "differs"
        ]
        return FindingVerdict(", ".join(["yes", *directions[:1]]), True, True)
    if any(claim.verdict in ("undecided", "equivalent") for claim in claims):
        return FindingVerdict(NO_DIFFERENCE, True)
    if any(claim.verdict == "cannot be shown" for claim in claims):
        return FindingVerdict(CANNOT_TELL)
    return FindingVerdict("not tested")


def single_question_claims(study: StudyEvidence) -> list[Claim]:
    """The claims from which a question is said to differ."""
    return [claim for claim in study.claims if claim.measure in _SINGLE_QUESTION and claim.item_id]
