"""What is claimed from the tables of scored questions: scores, places, new letters, categories.

Owns one function a section, under the rules of `claims`: no difference without its corrected test,
and the same numbers where none is shown.
"""

from collections.abc import Mapping, Sequence

from fieldwork.metrics.findings.page import (
    Section,
    Study,
    alarm,
    cases,
    groups,
    is_shown,
    told,
    where,
)
from fieldwork.metrics.findings.phrases import (
    counted,
    interval,
    listed,
    literal,
    p_text,
    percent,
    percent_interval,
    signed,
    unit_of,
)
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import Accuracy, CategoryVariance, Novelty, Rank, ScoreComparison

_Arm = tuple[str, str, str]


def scores(rows: Sequence[Accuracy], compared: Sequence[ScoreComparison], study: Study) -> Section:
    """Scores of whole runs, and whether users score or spread otherwise than reruns do."""
    own = told(
        [r for r in rows if r.metric == _reading(r.condition)], study, list(study.conditions)
    )
    beside = {
        (r.model, r.task, r.condition): r for r in compared if r.metric == _reading(r.condition)
    }
    lines = [
        f"{where(r, study)}: {_score(r)}{_beside(r, beside, study)} [accuracy, score_comparisons]"
        for r in own
    ]
    users = told(beside.values(), study, study.users)
    moved = [r for r in users if is_shown(r.p_holm) and r.difference is not None]
    spread = [r for r in users if is_shown(r.p_spread_holm)]
    before = study.label(study.baseline)
    if not users:
        head = "No task of this study has scores with a user."
    elif not moved and not spread:
        head = (
            f"No users are shown to score or to spread otherwise than reruns of {before}, in "
            f"{cases(users)} [score_comparisons]."
        )
    else:
        head = f"{_moved(moved, users, before)}; {_spread(spread, users)} [score_comparisons]."
    return Section(
        "Scores", head + alarm(told(beside.values(), study, study.controls), study), lines
    )


def _reading(condition: str) -> str:
    # people paste whole answers, where the strict reading looks for a letter alone
    return "em_flexible" if condition == FIELD else "em_strict"


def _moved(moved: Sequence[ScoreComparison], users: Sequence[ScoreComparison], before: str) -> str:
    if not moved:
        return f"No mean score with a user is shown to differ from {before}'s"
    furthest = max(moved, key=lambda r: abs(r.difference or 0.0))
    return (
        f"With a user, mean scores differ from {before}'s in {len(moved)} of {cases(users)}, by up "
        f"to {_difference(furthest)}"
    )


def _spread(spread: Sequence[ScoreComparison], users: Sequence[ScoreComparison]) -> str:
    if not spread:
        return "users are not shown to spread further than reruns"
    return f"users spread further than reruns in {len(spread)} of {cases(users)}"


def _score(row: Accuracy) -> str:
    if row.mean is None:
        return f"no score, because {row.reason}"
    unit = unit_of(row.condition, row.unit)
    n = f"{counted(row.n_runs, 'run')} of {counted(row.n_items, 'question')}, unit {unit}"
    if row.condition == FIELD:
        n += ", letters read out of whole answers"
    mean = f"mean {percent(row.mean, digits=1)}"
    bounds = percent_interval(row.ci_low, row.ci_high, digits=1)
    if row.minimum is None or row.maximum is None:
        return f"{mean} ({n}; {row.reason})"
    ends = f"lowest {percent(row.minimum, digits=1)}, highest {percent(row.maximum, digits=1)}"
    return f"{mean} ({bounds}; {n}), {ends}"


def _beside(row: Accuracy, beside: Mapping[_Arm, ScoreComparison], study: Study) -> str:
    found = beside.get((row.model, row.task, row.condition))
    if found is None or row.mean is None:
        return ""
    before = study.label(study.baseline)
    if found.difference is None or found.p_holm is None:
        return f"; not compared with {before}: {found.reason}"
    shown = "" if is_shown(found.p_holm) else "no difference shown, "
    return f"; beside {before} {shown}{_difference(found)}; {_wider(found)}"


def _difference(row: ScoreComparison) -> str:
    bounds = interval(
        *(None if b is None else 100 * b for b in (row.ci_low, row.ci_high)), digits=1
    )
    return (
        f"{signed(100 * (row.difference or 0.0), digits=1)} points ({bounds}, "
        f"{p_text(row.p_holm or 0.0)})"
    )


def _wider(row: ScoreComparison) -> str:
    if row.sd is None or row.sd_baseline is None or row.p_spread_holm is None:
        return "spreads not compared"
    shown = "a wider spread" if is_shown(row.p_spread_holm) else "no wider spread shown"
    return (
        f"{shown} (standard deviations {100 * row.sd:.1f} and {100 * row.sd_baseline:.1f} points, "
        f"{p_text(row.p_spread_holm)})"
    )


def places(rows: Sequence[Rank], study: Study) -> Section:
    """The places of a leaderboard that runs would take."""
    own = told(
        [r for r in rows if r.metric == _reading(r.condition)], study, list(study.conditions)
    )
    lines = [f"{where(r, study)}: {_place(r)} [ranks]" for r in own]
    users = [r for r in own if r.condition in study.users and r.p_change is not None]
    if not users:
        head = "No place on a leaderboard is told: no runs with a user have one [ranks]."
    else:
        most = max(users, key=lambda r: r.p_change or 0.0)
        head = (
            f"Two users put the model on different places in up to {percent(most.p_change or 0.0)} "
            f"of pairs ({where(most, study)}), two reruns of {study.label(study.baseline)} in "
            f"{_chance(most.p_change_baseline)}; places have no test of their own, that of the "
            "spread of scores stands above [ranks]."
        )
    return Section("Places on the leaderboard", head, lines)


def _place(row: Rank) -> str:
    if row.rank_best is None or row.rank_worst is None:
        return f"no place, because {row.reason}"
    ends = (
        f"place {row.rank_best}"
        if row.rank_best == row.rank_worst
        else f"places {row.rank_best} to {row.rank_worst}"
    )
    unit = unit_of(row.condition, row.unit)
    again = (
        ""
        if row.p_change_rerun is None
        else f", the same asked again {_chance(row.p_change_rerun)}"
    )
    return (
        f"{ends} among {row.n_models} models of {row.leaderboard} ({counted(row.n_units, 'run')}, "
        f"unit {unit}); "
        f"two {unit}s differ in place: {_chance(row.p_change)}{again}"
    )


def _chance(value: float | None) -> str:
    return "not known" if value is None else percent(value)


def novelty(rows: Sequence[Novelty], study: Study) -> Section:
    """Questions with an answer that the baseline never gave, beside what more reruns alone give."""
    own = told(rows, study, [*study.users, *study.controls])
    lines = [f"{where(r, study)}: {_new(r)} [novelty]" for r in own]
    before = study.label(study.baseline)
    found = [r for r in own if r.share is not None and r.condition in study.users]
    if not found:
        head = f"No questions are answered both with a user and in {before}."
        return Section("Novelty", head, lines)
    most = max(found, key=lambda r: r.share or 0.0)
    head = (
        f"With a user, up to {percent(most.share or 0.0)} of {counted(most.n_items, 'question')} get "
        f"an answer never seen in {before} ({percent_interval(most.ci_low, most.ci_high)}; "
        f"{where(most, study)}); {_than_reruns(found)} [novelty]."
    )
    return Section("Novelty", head, lines)


def _than_reruns(rows: Sequence[Novelty]) -> str:
    tested = [r for r in rows if r.p_holm is not None]
    if not tested:
        return (
            "more answers alone give new ones too, and without a condition that asks the baseline "
            "again nothing is claimed"
        )
    more = [r for r in tested if is_shown(r.p_holm) and (r.excess or 0.0) > 0]
    if not more:
        return f"that this is more than as many fresh reruns give is not shown in {cases(tested)}"
    return f"it is more than as many fresh reruns give in {len(more)} of {cases(tested)}"


def _new(row: Novelty) -> str:
    if row.share is None:
        return f"no share, because {row.reason}"
    share = (
        f"{percent(row.share)} of {counted(row.n_items, 'question')} "
        f"({percent_interval(row.ci_low, row.ci_high)})"
    )
    equal, control = row.share_equal, row.control_share
    if row.excess is None or equal is None or control is None or row.p_holm is None:
        return share
    shown = "" if is_shown(row.p_holm) else "no excess shown, "
    bounds = [None if b is None else 100 * b for b in (row.excess_low, row.excess_high)]
    return (
        f"{share}; asked once each, {counted(row.n_equal or 0, 'user')} give {percent(equal)} and as "
        f"many fresh reruns {percent(control)}: {shown}{signed(100 * row.excess, digits=0)} points "
        f"({interval(*bounds, digits=0)}, {p_text(row.p_holm)})"
    )


def categories(rows: Sequence[CategoryVariance], study: Study) -> Section:
    """Whether who asks matters more for some categories of subject."""
    arms = list(groups(told(rows, study, study.users), lambda r: (r.model, r.task, r.condition)))
    lines = [f"{where(arm[0], study)}: {_alike(arm)} [categories]" for arm in arms]
    tested = [arm for arm in arms if arm[0].p_holm is not None]
    apart = [arm for arm in tested if is_shown(arm[0].p_holm)]
    if not tested:
        head = "No test whether it depends on the subject: no two categories have enough subjects."
    elif apart:
        names = listed([where(arm[0], study) for arm in apart])
        head = f"How much it matters who asks depends on the category of subject ({names}) [categories]."
    else:
        head = (
            "That it depends on the category of subject how much it matters who asks is not shown "
            f"in any of {cases(tested)} [categories]."
        )
    return Section("Categories of subjects", head, lines)


def _alike(arm: Sequence[CategoryVariance]) -> str:
    known = sorted((r for r in arm if r.var_who is not None), key=lambda r: -(r.var_who or 0.0))
    if not known:
        return f"no estimate, because {arm[0].reason}"
    told_as = listed(
        [
            f"{literal(r.category)} {r.var_who or 0.0:.3f} ({counted(r.n_subjects, 'subject')})".replace(
                " -", " −"
            )
            for r in known
        ]
    )
    p_holm = arm[0].p_holm
    if p_holm is None:
        return f"not tested; var_who is {told_as}"
    shown = "categories differ" if is_shown(p_holm) else "no difference shown"
    return f"{shown} ({p_text(p_holm)}); var_who is {told_as}"
