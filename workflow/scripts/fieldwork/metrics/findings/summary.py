"""The first sentences of the page, for a reader without statistics.

Promises a sentence for each question that the study has tables about, each true of the tables whatever
they hold: a change is claimed only with its verdict, what is undecided is not said to be absent, and what
cannot be tested has its reason.
"""

from collections.abc import Mapping, Sequence

from fieldwork.metrics.claims.families import PRIMARY
from fieldwork.metrics.claims.measures import score_reading
from fieldwork.metrics.findings.answers import by_shift, option_name
from fieldwork.metrics.findings.cautions import control_tests
from fieldwork.metrics.findings.drift import drift_sentence
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.field import study_agreements, study_orders
from fieldwork.metrics.findings.form import form_sentence
from fieldwork.metrics.findings.group_gaps import group_gap_sentence
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.outline import StudyOutline, arm_name, study_rows
from fieldwork.metrics.findings.practice import practice_sentence
from fieldwork.metrics.findings.service import waiting_sentence
from fieldwork.metrics.findings.values import values_sentence
from fieldwork.metrics.findings.verdicts import MEASURE_NAMES, claim_verdict, effect_text
from fieldwork.metrics.findings.wording import count_phrase, join_words, percent, points
from fieldwork.metrics.findings.wordings import wording_sentence
from fieldwork.records.claims import Claim
from fieldwork.records.figures import AnswerBase
from fieldwork.records.metrics import Comparison, Rank, ScoreComparison, Shift
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS

BASES: Mapping[str, AnswerBase] = {
    "distance": "first",
    "option_share": "first",
    "score": "runs",
    "score_spread": "runs",
    "entropy_bits": "first",
    "value": "values",
    "field_value": "values",
}
"""The answers that a measure is computed from, where they are not all that count."""
NAMED_OPTIONS = 3
"""Options that the summary names."""


def in_short(tables: FindingsTables, outline: StudyOutline) -> list[str]:
    """The sentences, each after the word for its question."""
    sentences = [
        ("Primary", primary_sentence(tables, outline)),
        ("Answers", answers_sentence(tables, outline)),
        ("Values", values_sentence(tables.value_comparisons, tables.claims, outline)),
        ("Scores", scores_sentence(tables, outline)),
        ("Wording", wording_sentence(tables.robustness, tables.claims, outline)),
        ("Groups", group_gap_sentence(tables.group_gaps, tables.claims, outline)),
        ("Practice", practice_sentence(tables.practice, tables.claims, outline)),
        ("Waves", drift_sentence(tables.drift, outline)),
        ("Form", form_sentence(tables.answer_form, outline)),
        ("Chance", chance_sentence(tables, outline)),
        ("Waiting", waiting_sentence(tables.service, outline)),
        ("Real users", field_sentence(tables, outline)),
        ("Limits", limits_sentence(outline)),
    ]
    return [f"**{question}:** {sentence}." for question, sentence in sentences if sentence]


def _out_of(n: int, total: int) -> str:
    return f"{n:,} of {total:,}"


# ---- primary comparisons -----------------------------------------------------------------------------


def primary_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """What the comparisons show that the study is about."""
    claims = [claim for claim in tables.claims if claim.family == PRIMARY]
    tests = [claim for claim in claims if claim_verdict(claim).is_tested]
    if not tests:
        return "none of the comparisons that the study is about can be tested"
    n_shown = sum(claim.verdict == "differs" for claim in tests)
    n_equivalent = sum(claim.verdict == "equivalent" for claim in tests)
    measures = [
        _measure_phrase(rows, outline)
        for name in MEASURE_NAMES
        if (rows := [claim for claim in tests if claim.measure == name])
    ]
    verb = "is" if n_equivalent == 1 else "are"
    equivalent = f", {n_equivalent} {verb} equivalent within the margin" if n_equivalent else ""
    return (
        f"{_out_of(n_shown, len(tests))} comparisons that the study is about show a difference"
        f"{equivalent}; {'; '.join(measures)}"
    )


def _measure_phrase(tests: Sequence[Claim], outline: StudyOutline) -> str:
    """`scores in 1 of 3, most by −5.3 points (SP-RAG, mmlu)`."""
    differences = [claim for claim in tests if claim.verdict == "differs"]
    phrase = f"{MEASURE_NAMES[tests[0].measure]} in {_out_of(len(differences), len(tests))}"
    if not differences or differences[0].estimate is None:
        return phrase
    furthest = max(differences, key=lambda claim: abs(claim.estimate or 0.0))
    effect = effect_text(furthest.measure, furthest.estimate)
    amount = f"{effect}, " if effect else ""
    arm = arm_name(furthest, outline)
    # variants can be compared whose clean questions are not asked: these have no answers
    if furthest.task in outline.tasks:
        arm = answers_link(
            arm,
            model=furthest.model,
            task=furthest.task,
            item=furthest.item_id,
            condition=furthest.condition,
            base=BASES.get(furthest.measure, "counted"),
        )
    return f"{phrase} (most: {amount}{arm})"


# ---- answers -----------------------------------------------------------------------------------------


def answers_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """Whether answers to single prompts change with a simulated user, and which options move."""
    if not outline.simulated_users:
        return "no condition simulates a user, so nothing shows whether answers differ with one"
    return f"{_change(tables, outline)}; {_options(tables, outline)}"


def _user_comparisons(
    tables: FindingsTables, outline: StudyOutline, conditions: Sequence[str]
) -> list[Comparison]:
    """Comparisons of single prompts with the baseline that could have shown something."""
    bits = [row for row in tables.comparisons if row.metric == "js_bits"]
    return [
        row
        for row in study_rows(bits, outline, conditions)
        if tables.claims.verdict("distance", row).is_tested
    ]


def _change(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = _user_comparisons(tables, outline, outline.simulated_users)
    n_changed = sum(tables.claims.verdict("distance", row).is_shown for row in rows)
    if not rows:
        return "whether answers to one prompt differ with a user cannot be tested"
    if not n_changed:
        n_comparisons = count_phrase(len(rows), "comparison")
        return f"no difference is shown in {n_comparisons} of one prompt with and without a user"
    return (
        f"{_out_of(n_changed, len(rows))} comparisons of one prompt with and without a user show "
        "different answers"
    )


def _options(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = [
        row
        for row in study_rows(tables.shifts, outline, outline.simulated_users)
        if tables.claims.verdict("option_share", row).is_tested
    ]
    movers = [row for row in by_shift(rows) if tables.claims.verdict("option_share", row).is_shown]
    if not rows:
        return "no option can be compared with and without a user"
    if not movers:
        n_prompts = count_phrase(_n_prompts(rows), "comparison")
        return f"no option is shown to become rarer or more common, in {n_prompts} of one prompt"
    furthest: dict[tuple[str | None, ...], Shift] = {}
    for row in movers:
        furthest.setdefault((row.model, row.task, row.item_id, row.answer), row)
    shifts = [_option_shift(row, tables, outline) for row in furthest.values()][:NAMED_OPTIONS]
    return (
        f"in {_out_of(_n_prompts(movers), _n_prompts(rows))} comparisons of one prompt the share of an "
        f"option changed, most of all: {join_words(shifts)}"
    )


def _n_prompts(rows: Sequence[Shift]) -> int:
    """Comparisons of one prompt: where one option falls and another rises, that is one change."""
    return len({(row.model, row.task, row.condition, row.item_id) for row in rows})


def _option_shift(row: Shift, tables: FindingsTables, outline: StudyOutline) -> str:
    """`Tesla (cars) fell from 93 % to 35 % with SP-RAG (asked again without a user: 90 %)`."""
    baseline_share, user_share = (
        answers_link(
            percent(share or 0.0, digits=1),
            model=row.model,
            task=row.task,
            item=row.item_id,
            condition=condition,
            option=row.answer,
            base="first",
        )
        for share, condition in ((row.baseline_share, row.baseline), (row.share, row.condition))
    )
    direction = "rose" if (row.shift or 0.0) > 0 else "fell"
    is_letter = row.kind in LETTER_KINDS and row.answer != UNKNOWN
    option = f"answer {option_name(row)}" if is_letter else option_name(row)
    label = outline.label(row.condition)
    change = f"{option} {direction} from {baseline_share} to {user_share} with {label}"
    share = _rerun_share(row, tables, outline)
    return (
        change
        if share is None
        else f"{change} (asked again without a user: {percent(share, digits=1)})"
    )


def _rerun_share(row: Shift, tables: FindingsTables, outline: StudyOutline) -> float | None:
    """The option's share where the baseline is asked again; None without such a control."""
    arm = (row.model, row.task, row.item_id)
    reruns = [
        other
        for other in tables.shifts
        if other.condition in outline.controls and (other.model, other.task, other.item_id) == arm
    ]
    if not reruns:
        return None
    # an option that neither side names has no row
    return next((other.share for other in reruns if other.answer == row.answer), 0.0)


# ---- scores ------------------------------------------------------------------------------------------


def scores_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """Whether scores and places change with a simulated user."""
    if not any(row.task in outline.tasks for row in tables.accuracy):
        return "no task of this study has right answers to score"
    if not outline.simulated_users:
        return "none is of a simulated user"
    return f"{_score_change(tables, outline)}; {_places(tables.ranks, outline)}"


def _user_scores(tables: FindingsTables, outline: StudyOutline) -> list[ScoreComparison]:
    read = [row for row in tables.score_comparisons if row.metric == score_reading(row.condition)]
    return study_rows(read, outline, outline.simulated_users)


def _score_change(tables: FindingsTables, outline: StudyOutline) -> str:
    verdicts = [(row, tables.claims.verdict("score", row)) for row in _user_scores(tables, outline)]
    rows = [row for row, verdict in verdicts if verdict.is_tested]
    movers = [row for row, verdict in verdicts if verdict.is_shown]
    baseline = outline.label(outline.baseline)
    if not rows:
        return f"none with a user can be compared with {baseline}"
    if not movers:
        n_comparisons = count_phrase(len(rows), "comparison")
        return f"no change of the mean score with a user is shown in {n_comparisons}"
    furthest = max(movers, key=lambda row: abs(row.difference or 0.0))
    # without an interval a test says that scores differ, not that their mean does
    mean = answers_link(
        percent(furthest.mean or 0.0, digits=1),
        model=furthest.model,
        task=furthest.task,
        condition=furthest.condition,
        base="runs",
    )
    return (
        f"scores with a user differ in {_out_of(len(movers), len(rows))} comparisons, most where their "
        f"mean is {mean}, "
        f"{points(furthest.difference or 0.0, digits=1)} from {baseline} ({arm_name(furthest, outline)})"
    )


def _places(ranks: Sequence[Rank], outline: StudyOutline) -> str:
    read = [row for row in ranks if row.metric == score_reading(row.condition)]
    rows = [
        (row.p_change, row)
        for row in study_rows(read, outline, outline.simulated_users)
        if row.p_change is not None
    ]
    if not rows:
        return "the study gives no places on a leaderboard"
    p_change, row = max(rows, key=lambda pair: pair[0])
    p_rerun = row.p_change_baseline
    reruns = "" if p_rerun is None else f", two reruns without a user in {percent(p_rerun)}"
    return (
        "two contexts put the model on different places of the leaderboard in up to "
        f"{percent(p_change)} of pairs{reruns} ({arm_name(row, outline)}; no test)"
    )


# ---- chance ------------------------------------------------------------------------------------------


def chance_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """What asking the same again gives: the negative control, and the reruns."""
    spread = _spread(tables, outline)
    return "; ".join([_control(tables, outline), *([spread] if spread else [])])


def _control(tables: FindingsTables, outline: StudyOutline) -> str:
    if not outline.controls:
        return (
            "nothing was asked again without a user, so no control shows how often chance alone gives "
            "a difference"
        )
    tests = control_tests(tables)
    n_shown = sum(claim.verdict == "differs" for claim in tests)
    if not tests:
        return "asking again without a user gave no answers to compare"
    warning = " (see the warning)" if n_shown else ""
    return (
        f"asking again without a user shows a difference in {_out_of(n_shown, len(tests))} "
        f"tests{warning}"
    )


def _spread(tables: FindingsTables, outline: StudyOutline) -> str:
    verdicts = [tables.claims.verdict("score_spread", row) for row in _user_scores(tables, outline)]
    tests = [verdict for verdict in verdicts if verdict.is_tested]
    n_wider = sum(verdict.is_shown for verdict in tests)
    if not tests:
        return ""
    if not n_wider:
        return "scores are not shown to differ more between contexts than between reruns"
    n_cases = _out_of(n_wider, len(tests))
    return f"scores differ more between contexts than between reruns in {n_cases} cases"


# ---- real users, limits ------------------------------------------------------------------------------


def field_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """How near the study's conditions come to real users; empty without them."""
    if not outline.has_field:
        return ""
    verdicts = [
        tables.claims.verdict("field_distance", row)
        for row in study_agreements(tables.item_agreement, outline)
    ]
    tests = [verdict for verdict in verdicts if verdict.is_tested]
    if not tests:
        return "no answers can be compared with theirs"
    n_differing = sum(verdict.is_shown for verdict in tests)
    distance = (
        f"their answers differ from the model's in {_out_of(n_differing, len(tests))} comparisons of "
        "one prompt"
        if n_differing
        else f"no difference from their answers is shown in {count_phrase(len(tests), 'comparison')} of "
        "one prompt"
    )
    return f"{distance}; {_order(tables, outline)}"


def _order(tables: FindingsTables, outline: StudyOutline) -> str:
    orders = [
        (row, verdict)
        for row in study_orders(tables.rank_agreement, outline)
        if (verdict := tables.claims.verdict("field_order", row)).is_tested
    ]
    n_same = sum(verdict.is_shown and (row.tau_b or 0.0) > 0 for row, verdict in orders)
    if not orders:
        return "whether a condition ranks prompts as they do cannot be tested"
    if not n_same:
        return f"no condition is shown to rank prompts as they do, in {count_phrase(len(orders), 'test')}"
    return f"a condition ranks prompts as they do in {_out_of(n_same, len(orders))} tests"


def limits_sentence(outline: StudyOutline) -> str:
    """What the study as a whole cannot say."""
    other_material = "other prompts, other models or another corpus"
    if outline.has_field:
        return f"the study says nothing of people who did not take part, nor of {other_material}"
    return f"the study has no answers of real users, and says nothing of {other_material}"
