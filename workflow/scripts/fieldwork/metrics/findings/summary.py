"""The first sentences of the page, for a reader without statistics.

Promises at most six sentences, each true of the tables whatever they hold: a change is claimed only
with its verdict, what is not shown is not said to be absent, and what cannot be tested has its reason.
"""

from collections.abc import Sequence

from fieldwork.metrics.findings.answers import by_shift, option_name
from fieldwork.metrics.findings.cautions import control_verdicts
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.field import study_agreements, study_orders
from fieldwork.metrics.findings.outline import StudyOutline, arm_name, study_rows
from fieldwork.metrics.findings.scores import reading
from fieldwork.metrics.findings.verdicts import (
    agreement_verdict,
    comparison_verdict,
    order_verdict,
    score_verdict,
    shift_verdict,
    spread_verdict,
    variance_verdict,
)
from fieldwork.metrics.findings.wording import count_phrase, join_words, percent, points
from fieldwork.records.metrics import Comparison, Rank, ScoreComparison, Shift
from fieldwork.records.parsing import UNKNOWN

NAMED_OPTIONS = 3
"""Options that the summary names."""


def in_short(tables: FindingsTables, outline: StudyOutline) -> list[str]:
    """The sentences, each after the word for its question."""
    sentences = [
        ("Answers", answers_sentence(tables, outline)),
        ("Options", options_sentence(tables, outline)),
        ("Scores", scores_sentence(tables, outline)),
        ("Chance", chance_sentence(tables, outline)),
        ("Real users", field_sentence(tables, outline)),
        ("Limits", limits_sentence(outline)),
    ]
    return [f"**{question}:** {sentence}." for question, sentence in sentences if sentence]


def _user_comparisons(
    tables: FindingsTables, outline: StudyOutline, conditions: Sequence[str]
) -> list[Comparison]:
    """Tested comparisons of single prompts with the baseline."""
    bits = [row for row in tables.comparisons if row.metric == "js_bits"]
    return [
        row for row in study_rows(bits, outline, conditions) if comparison_verdict(row).is_tested
    ]


def _out_of(n: int, total: int) -> str:
    return f"{n:,} of {total:,}"


# ---- answers -----------------------------------------------------------------------------------------


def answers_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """Whether answers change with a simulated user, and how much it matters who asks."""
    if not outline.simulated_users:
        return "no condition simulates a user, so nothing shows whether answers differ with one"
    return f"{_change(tables, outline)}; {_share_of_users(tables, outline)}"


def _change(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = _user_comparisons(tables, outline, outline.simulated_users)
    n_changed = sum(comparison_verdict(row).is_shown for row in rows)
    if not rows:
        return "whether they differ with a user cannot be tested"
    if not n_changed:
        return (
            f"no difference is shown in {count_phrase(len(rows), 'comparison')} of one prompt with and "
            "without a user"
        )
    return (
        f"{_out_of(n_changed, len(rows))} comparisons of one prompt with and without a user show "
        "different answers"
    )


def _share_of_users(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = [
        row
        for row in study_rows(tables.variance, outline, outline.simulated_users)
        if variance_verdict(row).is_tested
    ]
    differences = [row for row in rows if variance_verdict(row).is_shown]
    if not rows:
        return "whether different users get different answers cannot be tested"
    if not differences:
        n_cases = count_phrase(len(rows), "case")
        return f"that different users get different answers is not shown in {n_cases}"
    largest = max(differences, key=lambda row: row.share_who or 0.0)
    return (
        f"up to {percent(largest.share_who or 0.0)} of the variation between answers to one prompt comes "
        f"from who asks ({arm_name(largest, outline)}; shown in "
        f"{_out_of(len(differences), len(rows))} cases)"
    )


# ---- options -----------------------------------------------------------------------------------------


def options_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """The options that a simulated user moves furthest; empty without a simulated user."""
    if not outline.simulated_users:
        return ""
    rows = [
        row
        for row in study_rows(tables.shifts, outline, outline.simulated_users)
        if shift_verdict(row).is_tested
    ]
    movers = [row for row in by_shift(rows) if shift_verdict(row).is_shown]
    if not rows:
        return "no option can be compared with and without a user"
    if not movers:
        return f"none is shown to become rarer or more common, in {count_phrase(len(rows), 'test')}"
    furthest: dict[tuple[str | None, ...], Shift] = {}
    for row in movers:
        furthest.setdefault((row.model, row.task, row.item_id, row.answer), row)
    shifts = [_option_shift(row, outline) for row in furthest.values()][:NAMED_OPTIONS]
    return (
        f"in {_out_of(len(movers), len(rows))} tests an option's share of answers changed, most of all: "
        f"{join_words(shifts)}"
    )


def _option_shift(row: Shift, outline: StudyOutline) -> str:
    baseline_share, user_share = (
        percent(share or 0.0, digits=1) for share in (row.baseline_share, row.share)
    )
    direction = "rose" if (row.shift or 0.0) > 0 else "fell"
    is_letter = row.kind == "choice" and row.answer != UNKNOWN
    option = f"answer {option_name(row)}" if is_letter else option_name(row)
    label = outline.label(row.condition)
    return f"{option} {direction} from {baseline_share} to {user_share} with {label}"


# ---- scores ------------------------------------------------------------------------------------------


def scores_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """Whether scores and places change with a simulated user."""
    if not any(row.task in outline.tasks for row in tables.accuracy):
        return "no task of this study has right answers to score"
    if not outline.simulated_users:
        return "none is of a simulated user"
    return f"{_score_change(tables, outline)}; {_places(tables.ranks, outline)}"


def _user_scores(tables: FindingsTables, outline: StudyOutline) -> list[ScoreComparison]:
    read = [row for row in tables.score_comparisons if row.metric == reading(row.condition)]
    return study_rows(read, outline, outline.simulated_users)


def _score_change(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = [row for row in _user_scores(tables, outline) if score_verdict(row).is_tested]
    movers = [row for row in rows if score_verdict(row).is_shown]
    baseline = outline.label(outline.baseline)
    if not rows:
        return f"none with a user can be compared with {baseline}"
    if not movers:
        n_comparisons = count_phrase(len(rows), "comparison")
        return f"no change of the mean score with a user is shown in {n_comparisons}"
    furthest = max(movers, key=lambda row: abs(row.difference or 0.0))
    return (
        f"with a user the mean score changed in {_out_of(len(movers), len(rows))} comparisons, most "
        f"by {points(furthest.difference or 0.0, digits=1)}, to "
        f"{percent(furthest.mean or 0.0, digits=1)} ({arm_name(furthest, outline)})"
    )


def _places(ranks: Sequence[Rank], outline: StudyOutline) -> str:
    read = [row for row in ranks if row.metric == reading(row.condition)]
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
        f"two users put the model on different places of the leaderboard in up to {percent(p_change)} of "
        f"pairs{reruns} ({arm_name(row, outline)}; no test)"
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
    rows = _user_comparisons(tables, outline, outline.controls)
    n_other = sum(
        verdict.is_shown
        for name, verdict in control_verdicts(tables, outline)
        if not name.startswith("answers:")
    )
    other = f", but {count_phrase(n_other, 'difference')} in other tests (see the warning)"
    if not rows:
        return f"asking again without a user gave no answers to compare{other if n_other else ''}"
    n_changed = sum(comparison_verdict(row).is_shown for row in rows)
    return (
        f"asking again without a user shows different answers in {_out_of(n_changed, len(rows))} "
        f"comparisons"
        f"{other if n_other else ''}"
    )


def _spread(tables: FindingsTables, outline: StudyOutline) -> str:
    rows = [row for row in _user_scores(tables, outline) if spread_verdict(row).is_tested]
    n_wider = sum(spread_verdict(row).is_shown for row in rows)
    if not rows:
        return ""
    if not n_wider:
        return "scores are not shown to differ more between users than between reruns"
    return f"scores differ more between users than between reruns in {_out_of(n_wider, len(rows))} cases"


# ---- real users, limits ------------------------------------------------------------------------------


def field_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """How near the study's conditions come to real users; empty without them."""
    if not outline.has_field:
        return ""
    verdicts = [agreement_verdict(row) for row in study_agreements(tables.item_agreement, outline)]
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
        if (verdict := order_verdict(row)).is_tested
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
