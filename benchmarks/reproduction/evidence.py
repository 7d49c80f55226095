"""The numbers of a study beside the paper's claims, from its tables of estimates and of claims.

Nothing is estimated here: a row takes its numbers from one row of a table, and its outcome from
verdicts.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paper import FIRST_TO_FIFTH
from rows import Row
from verdicts import (
    Judgement,
    Range,
    judge_all,
    judge_below,
    judge_every_prompt,
    judge_highest,
    judge_test,
    judge_width,
)

from fieldwork import tables
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import (
    AnswerShare,
    ExactEstimate,
    Novelty,
    RunAccuracy,
    ScoreSpread,
    Shift,
)

BASELINE, CONTROL = "offline", "offline_again"
USERS = ("history", "rag", "profile")
CONDITIONS = (*USERS, CONTROL)
COMPANIES = "companies"
FIRST_QUESTIONS = ("college_medicine-000", "sample_medicine-000")
"""MMLU's first question of the paper's four items, and the sample's in its place."""
MEASURES = ("entropy_bits", "one_minus_top5_share", "unique_items")

ROW_TYPES: tuple[type[Any], ...] = (
    Claim,
    Shift,
    Estimate,
    AnswerShare,
    RunAccuracy,
    ScoreSpread,
    Novelty,
    ExactEstimate,
)


class StudyTables(NamedTuple):
    """Tables of one study or several, by row type."""

    rows: Mapping[type[Any], Sequence[Any]]

    def of(self, row_type: type[Any], **values: Any) -> list[Any]:
        """The rows with these values."""
        return [
            row
            for row in self.rows[row_type]
            if all(getattr(row, name) == value for name, value in values.items())
        ]

    def one(self, row_type: type[Any], **values: Any) -> Any:
        """The row with these values; None where there is none."""
        return next(iter(self.of(row_type, **values)), None)

    def test(self, measure: str, **values: Any) -> Claim | None:
        """The test of a measure."""
        claim: Claim | None = self.one(Claim, measure=measure, **values)
        return claim

    def models(self, row_type: type[Any]) -> list[str]:
        """Models that a table has rows of, in their order."""
        return [*dict.fromkeys(row.model for row in self.rows[row_type])]


def read_tables(results: Sequence[Path]) -> StudyTables:
    """The tables of the studies in some folders, one after another.

    Raises:
        StudyError: a table is not there or cannot be read.
    """
    return StudyTables(
        {
            row_type: [
                row
                for folder in results
                for path in _paths(row_type)
                for row in tables.read_rows(folder / path, row_type)
            ]
            for row_type in ROW_TYPES
        }
    )


def _paths(row_type: type[Any]) -> list[str]:
    path = table_of(row_type).path
    questions = ("lists", "accuracy")
    return [*dict.fromkeys(path.format(question=question) for question in questions)]


def claim_rows(study: StudyTables) -> Iterator[Row]:
    """Every number beside a claim, in the paper's order."""
    for model in study.models(Estimate):
        if not study.of(Estimate, model=model, measure=MEASURES[0]):
            continue
        yield from _options(study, model)
        yield from _variety(study, model)
        yield from _profile_first(study, model)
        yield from _unread(study, model)
    yield from _probabilities(study)
    for model in study.models(RunAccuracy):
        tasks = {row.task for row in study.of(RunAccuracy, model=model)}
        if "probe" in tasks:
            yield from _items(study, model)
        if "mmlu_lite" in tasks:
            yield from _scores(study, model)


def _judged(condition: str, judgement: Judgement) -> dict[str, Any]:
    """The columns of an outcome; the control has none, as no claim is about it."""
    if condition == CONTROL:
        return {}
    return {"outcome": judgement.outcome, "note": judgement.reason}


# ---- lists -------------------------------------------------------------------------------------------


def _options(study: StudyTables, model: str) -> Iterator[Row]:
    own = study.of(Shift, model=model, item_id=COMPANIES, condition=CONTROL)
    named = [row for row in own if row.answer is not None and row.baseline_share is not None]
    first = max(named, key=lambda row: (row.baseline_share, row.answer), default=None)
    options = {"Tesla": "Tesla", "Patagonia": "Patagonia"}
    if first is not None:
        options["first company"] = first.answer
    # lists that take long are not asked under every condition
    shifted = {row.condition for row in study.of(Shift, model=model, item_id=COMPANIES)}
    conditions = [condition for condition in CONDITIONS if condition in shifted]
    for name, option in options.items():
        for condition in conditions:
            yield _option(study, name, option, model, condition)


def _option(study: StudyTables, name: str, option: str, model: str, condition: str) -> Row:
    arm = {"model": model, "condition": condition, "item_id": COMPANIES}
    shift: Shift | None = study.one(Shift, answer=option, **arm)
    judgement = judge_test(study.test("option_share", detail=option, **arm), "rarer")
    columns = _judged(condition, judgement)
    if shift is None:
        columns |= {"note": f"no list names {option}"} if columns else {}
        return Row("claim", name, model, condition, unit="share", **columns)
    if name == "first company":
        columns["note"] = "; ".join(filter(None, [option, columns.get("note", "")]))
    return Row(
        *("claim", name, model, condition, shift.n_answers, "share"),
        *(shift.baseline_share, shift.share, shift.shift, shift.ci_low, shift.ci_high),
        **columns,
    )


def _variety(study: StudyTables, model: str) -> Iterator[Row]:
    for condition in CONDITIONS:
        arm = {"model": model, "condition": condition}
        mean = _mean_entropy(study, **arm)
        if mean is None:
            continue
        judgement = judge_test(study.test("entropy_bits", **arm), "more varied")
        yield Row(
            *("claim", "varied", model, condition, mean.n_units, "bits"),
            *(_baseline_mean(study, model), mean.value, mean.difference),
            *(mean.difference_low, mean.difference_high),
            **_judged(condition, judgement),
        )
        yield _every_prompt(study, model, condition, judgement)


def _baseline_mean(study: StudyTables, model: str) -> float | None:
    row = _mean_entropy(study, model, BASELINE)
    return row.value if row else None


def _mean_entropy(study: StudyTables, model: str, condition: str) -> Estimate | None:
    """Over prompts, beside the baseline's."""
    arm = {"model": model, "condition": condition}
    row: Estimate | None = study.one(
        Estimate, measure="entropy_bits", item_id=None, reference="baseline", **arm
    )
    return row


def _prompts(study: StudyTables, measure: str, model: str, condition: str) -> dict[str, Estimate]:
    """A measure of lists by prompt."""
    rows = study.of(Estimate, measure=measure, model=model, condition=condition)
    return {row.item_id: row for row in rows if row.item_id is not None}


def _every_prompt(study: StudyTables, model: str, condition: str, mean: Judgement) -> Row:
    n_higher = n_estimates = 0
    pairs = []
    for measure in MEASURES:
        baseline = _prompts(study, measure, model, BASELINE)
        for item, own in _prompts(study, measure, model, condition).items():
            base = baseline.get(item)
            n_estimates += 1
            if base is None or own.value is None or base.value is None:
                continue
            n_higher += own.value > base.value
            ranges = (_interval(own.ci_low, own.ci_high), _interval(base.ci_low, base.ci_high))
            if ranges[0] and ranges[1]:
                pairs.append((ranges[0], ranges[1]))
    judgement = judge_every_prompt(mean, n_higher, n_estimates, pairs)
    return Row(
        *("claim", "every prompt", model, condition),
        unit="prompts",
        n_higher=n_higher,
        n_estimates=n_estimates,
        **_judged(condition, judgement),
    )


def _interval(low: float | None, high: float | None) -> Range | None:
    return None if low is None or high is None else Range(low, high)


def _profile_first(study: StudyTables, model: str) -> Iterator[Row]:
    intervals: dict[str, Range | None] = {}
    for condition in USERS:
        row = _mean_entropy(study, model, condition)
        if row is None:
            # the claim is about all three kinds
            return
        intervals[condition] = _interval(row.difference_low, row.difference_high)
    others = [intervals[name] for name in ("history", "rag")]
    judgement = judge_highest(intervals["profile"], [other for other in others if other])
    mean = _mean_entropy(study, model, "profile")
    if mean is not None:
        yield Row(
            *("claim", "profile first", model, "profile", mean.n_units, "bits"),
            value=mean.value,
            outcome=judgement.outcome,
            note=judgement.reason,
        )


def _unread(study: StudyTables, model: str) -> Iterator[Row]:
    """Shares of lists that nothing could be read from."""
    for condition in (BASELINE, *CONDITIONS):
        rows = _prompts(study, "entropy_bits", model, condition).values()
        n_read, n_unread = (sum(getattr(r, n) for r in rows) for n in ("n_answers", "n_without"))
        if n_read + n_unread:
            share = n_unread / (n_read + n_unread)
            yield Row("unread", "lists", model, condition, n_read + n_unread, "share", value=share)


# ---- probabilities of letters ------------------------------------------------------------------------


def _probabilities(study: StudyTables) -> Iterator[Row]:
    """Each estimate from the letters drawn, and the same from their probabilities."""
    for row in study.rows[ExactEstimate]:
        name, place = f"{row.measure}, {row.task}", (row.model, row.condition)
        unit = "bits" if row.measure == "distance" else "share"
        drawn = (row.sampled, row.sampled_low, row.sampled_high, row.n_answers)
        stated = (row.estimate, row.ci_low, row.ci_high, row.n_calls)
        for note, (value, low, high, n) in (("drawn", drawn), ("stated", stated)):
            if value is not None:
                values = {"value": value, "low": low, "high": high}
                yield Row("probabilities", name, *place, n, unit, **values, note=note)


# ---- choices -----------------------------------------------------------------------------------------


def _items(study: StudyTables, model: str) -> Iterator[Row]:
    for condition in CONDITIONS:
        tests = study.of(Claim, measure="distance", model=model, task="probe", condition=condition)
        judgement = judge_all([judge_test(test, "differs") for test in tests])
        yield Row(
            *("claim", "items", model, condition),
            unit="items",
            n_higher=sum(test.verdict == "differs" for test in tests),
            n_estimates=len(tests),
            **_judged(condition, judgement),
        )
    for condition in (BASELINE, *CONDITIONS):
        answers = study.of(AnswerShare, model=model, condition=condition)
        letters = [row for row in answers if row.item_id in FIRST_QUESTIONS]
        named = [row for row in letters if row.answer in "ABCD" and row.n_answers]
        is_claimed = condition == "profile"
        yield Row(
            *("claim", "all letters", model, condition),
            n=letters[0].n_responses if letters else None,
            unit="letters",
            value=float(len(named)),
            outcome="cannot be told" if is_claimed else "",
            note="counts have no interval" if is_claimed else "",
        )


def _scores(study: StudyTables, model: str) -> Iterator[Row]:
    offline = _range(study, model, BASELINE)
    for condition in CONDITIONS:
        arm = {"model": model, "task": "mmlu_lite", "condition": condition}
        against = {"measure": "em_strict", "reference": "baseline", **arm}
        score: Estimate | None = study.one(Estimate, **against)
        comparison: ScoreSpread | None = study.one(ScoreSpread, metric="em_strict", **arm)
        if score is None or comparison is None:
            continue
        baseline: Estimate | None = study.one(Estimate, **{**against, "condition": BASELINE})
        spread = judge_test(study.test("score_spread", **arm), "wider")
        yield Row(
            *("claim", "spread", model, condition, comparison.n_units, "points"),
            *(comparison.sd_baseline, comparison.sd),
            **_judged(condition, spread),
        )
        scores = _range(study, model, condition)
        yield Row(
            *("claim", "gap", model, condition, comparison.n_units, "points"),
            *(_width(offline), _width(scores)),
            **_judged(condition, judge_width(scores, FIRST_TO_FIFTH, spread)),
        )
        below = judge_below(scores, offline, study.test("score", **arm))
        yield Row(
            *("claim", "below", model, condition, comparison.n_units, "points"),
            *(baseline.value if baseline else None, score.value, score.difference),
            *(score.difference_low, score.difference_high),
            **_judged(condition, below),
        )
        yield from _new_letters(study, arm)


def _new_letters(study: StudyTables, arm: dict[str, str]) -> Iterator[Row]:
    row: Novelty | None = study.one(Novelty, **arm)
    if row is not None:
        judgement = judge_test(study.test("novelty", **arm), "more")
        yield Row(
            *("claim", "new letters", row.model, row.condition, row.n_equal, "share"),
            *(row.control_share, row.share, row.excess, row.excess_low, row.excess_high),
            **_judged(row.condition, judgement),
        )


def _range(study: StudyTables, model: str, condition: str) -> Range | None:
    """The lowest and the highest score of counted runs."""
    arm = {"model": model, "task": "mmlu_lite", "condition": condition}
    scores = [run.em_strict for run in study.of(RunAccuracy, is_counted=True, **arm)]
    return Range(min(scores), max(scores)) if len(scores) > 1 else None


def _width(scores: Range | None) -> float | None:
    return None if scores is None else scores.high - scores.low
