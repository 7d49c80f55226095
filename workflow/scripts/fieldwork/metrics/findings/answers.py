"""What is claimed from the tables of answers: sentences with number, interval, n and test.

Owns one function a section. A difference is claimed only where its test, corrected by Holm, has p
below `LEVEL`; otherwise that none is shown, with the same numbers; and where there is no estimate,
the table's own reason. Promises that every sentence names the table it can be checked in.
"""

from collections.abc import Sequence

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
    literal,
    p_text,
    percent,
    percent_interval,
    points,
    points_interval,
    signed,
    unit_of,
)
from fieldwork.records.metrics import Comparison, PromptMean, Shift, VarianceShare

TOP_SHIFTS = 5


def who_asks(rows: Sequence[VarianceShare], study: Study) -> Section:
    """The share of the variance of answers that lies between users."""
    own = told(rows, study, study.users)
    lines = [f"{where(r, study)}: {_who(r)} [variance]" for r in own]
    shown = [r for r in own if is_shown(r.p_holm) and r.share_who is not None]
    if not own:
        head = "No condition of this study has a user."
    elif shown:
        most = max(shown, key=lambda r: r.share_who or 0.0)
        head = (
            f"Who asks accounts for up to {percent(most.share_who or 0.0)} of the variance of answers "
            f"to one prompt ({percent_interval(most.ci_low, most.ci_high)}; {where(most, study)}), "
            f"and is shown to matter in {len(shown)} of {cases(own)} [variance]."
        )
    else:
        head = f"That it matters who asks is not shown in any of {cases(own)} [variance]."
    return Section("Who asks", head, lines)


def _who(row: VarianceShare) -> str:
    if row.share_who is None or row.p_holm is None:
        return f"no share, because {row.reason}"
    n = (
        f"{percent_interval(row.ci_low, row.ci_high)}, {p_text(row.p_holm)}; "
        f"{counted(row.n_puppets, unit_of(row.condition, 'puppet'))}, {counted(row.n_items, 'prompt')}, "
        f"{counted(row.n_responses, 'answer')}"
    )
    if is_shown(row.p_holm):
        return f"{percent(row.share_who)} of the variance lies between users ({n})"
    return f"no difference between users shown: {percent(row.share_who)} of the variance ({n})"


def distance(rows: Sequence[Comparison], study: Study) -> Section:
    """On how many prompts answers differ from the baseline's."""
    own = told([r for r in rows if r.metric == "js_bits"], study, [*study.users, *study.controls])
    arms = list(groups(own, lambda r: (r.model, r.task, r.condition)))
    lines = [f"{where(arm[0], study)}: {_far(arm)} [comparisons]" for arm in arms]
    with_user = [arm for arm in arms if arm[0].condition in study.users]
    counts = [_differing(arm) for arm in with_user]
    before = study.label(study.baseline)
    if not with_user:
        head = "No condition with a user has answers to compare."
    elif not sum(map(len, counts)):
        head = f"No answers with a user are shown to differ from {before} [comparisons]."
    else:
        most = max(range(len(counts)), key=lambda k: len(counts[k]) / len(with_user[k]))
        arm = with_user[most]
        head = (
            f"With a user, answers differ from {before} on up to {len(counts[most])} of "
            f"{counted(len(arm), 'prompt')} ({where(arm[0], study)}), and on "
            f"{sum(map(len, counts))} of {sum(map(len, with_user))} pairs of prompt and condition "
            "[comparisons]."
        )
    return Section(f"Distance from {before}", head + alarm(own, study), lines)


def _differing(arm: Sequence[Comparison]) -> list[Comparison]:
    return [row for row in arm if is_shown(row.p_holm)]


def _far(arm: Sequence[Comparison]) -> str:
    tested = [row for row in arm if row.excess is not None and row.p_holm is not None]
    if not tested:
        return f"no distance, because {arm[0].reason}"
    without = len(arm) - len(tested)
    rest = f"; {counted(without, 'prompt')} without a distance" if without else ""
    prompts, differing = counted(len(tested), "prompt"), _differing(tested)
    if differing:
        furthest = max(differing, key=lambda r: r.excess or 0.0)
        return f"answers to {len(differing)} of {prompts} differ, furthest {_apart(furthest)}{rest}"
    nearest = min(tested, key=lambda r: (r.p_holm or 0.0, -(r.excess or 0.0)))
    return f"no difference shown on any of {prompts} (nearest to one {_apart(nearest)}){rest}"


def _apart(row: Comparison) -> str:
    return (
        f"{literal(row.item_id)}: {signed(row.excess or 0.0, digits=3)} bits beyond chance, "
        f"{p_text(row.p_holm or 0.0)}, n = {row.n_units} and {row.n_units_baseline}"
    )


def options_moved(rows: Sequence[Shift], study: Study) -> Section:
    """The options whose share a user moves furthest."""
    own = [r for r in told(rows, study, study.users) if r.shift is not None]
    lines: list[str] = []
    for group in groups(own, lambda r: (r.model, r.task)):
        furthest = sorted(group, key=lambda r: (-abs(r.shift or 0.0), r.item_id, r.answer or ""))
        lines += [f"{where(r, study)}: {_moved(r)} [shifts]" for r in furthest[:TOP_SHIFTS]]
    moved = [r for r in own if is_shown(r.p_holm)]
    if not own:
        return Section("Options that moved", "No option has a shift with a user.", lines)
    largest = max(moved or own, key=lambda r: abs(r.shift or 0.0))
    if moved:
        head = (
            f"With a user, {len(moved)} of {len(own):,} shares of options moved, the furthest "
            f"{_moved(largest)} ({where(largest, study)}) [shifts]."
        )
    else:
        head = (
            f"With a user, none of {len(own):,} shares of options is shown to move; the largest "
            f"shift is of {_shares(largest)} ({where(largest, study)}) [shifts]."
        )
    caution = (
        f"The {TOP_SHIFTS} furthest of each task are told here. Of many shifts the largest are those "
        "that chance helped: expect them smaller when asked again. Intervals are of one option alone"
    )
    head += alarm(told(rows, study, study.controls), study)
    return Section("Options that moved", head, [*lines, f"{caution} [shifts]"] if lines else lines)


def _moved(row: Shift) -> str:
    test = (
        f"{points(row.shift or 0.0)}, {points_interval(row.ci_low, row.ci_high)}, "
        f"{p_text(row.p_holm or 0.0)} among {row.n_family} options"
    )
    told_as = _shares(row)
    return (
        f"{told_as}: {test}" if is_shown(row.p_holm) else f"no difference shown, {told_as}: {test}"
    )


def _shares(row: Shift) -> str:
    return (
        f"{literal(row.answer or '')} ({literal(row.item_id)}) "
        f"from {row.n_named_baseline} of {row.n_baseline} answers "
        f"({percent(row.baseline_share or 0.0, digits=1)}) to {row.n_named} of {row.n_answers} "
        f"({percent(row.share or 0.0, digits=1)})"
    )


def heterogeneity(rows: Sequence[PromptMean], study: Study) -> Section:
    """Entropy as a mean over prompts, and whether it is the baseline's."""
    entropy = [r for r in rows if r.metric == "entropy_bits"]
    own = told(entropy, study, [study.baseline, *study.users, *study.controls])
    lines = [f"{where(r, study)}: {_entropy(r, study)} [prompt_means]" for r in own]
    compared = [r for r in own if r.condition in study.users]
    higher = [r for r in compared if is_shown(r.p_holm) and (r.difference or 0.0) > 0]
    lower = [r for r in compared if is_shown(r.p_holm) and (r.difference or 0.0) < 0]
    before = study.label(study.baseline)
    if not compared:
        head = "No condition with a user answers prompts that ask for a list."
    elif not higher and not lower:
        head = (
            f"With a user, answers are not shown to vary more or less than {before} [prompt_means]."
        )
    else:
        most = max([*higher, *lower], key=lambda r: abs(r.difference or 0.0))
        head = (
            f"With a user, answers vary more than {before} in {len(higher)} and less in {len(lower)} "
            f"of {cases(compared)}; the largest difference of entropy is "
            f"{signed(most.difference or 0.0, digits=2)} bits "
            f"({interval(most.difference_low, most.difference_high)}; {where(most, study)}) "
            "[prompt_means]."
        )
    return Section("Heterogeneity", head + alarm(own, study), lines)


def _entropy(row: PromptMean, study: Study) -> str:
    if row.mean is None:
        return f"no mean, because {row.reason}"
    value = (
        f"entropy {row.mean:.2f} bits, mean over {counted(row.n_items, 'prompt')} at n = "
        f"{row.n_equal} ({interval(row.ci_low, row.ci_high)}; "
        f"{counted(row.n_units, unit_of(row.condition, row.unit))})"
    )
    if row.condition == study.baseline:
        return value
    if row.difference is None or row.p_holm is None:
        return f"{value}; {row.reason}"
    n = (
        f"{signed(row.difference, digits=2)} bits, "
        f"{interval(row.difference_low, row.difference_high)}, {p_text(row.p_holm)}; higher on "
        f"{row.n_higher} of {counted(row.n_items, 'prompt')}"
    )
    if not is_shown(row.p_holm):
        return f"{value}, no difference from {study.label(study.baseline)} shown ({n})"
    way = "more" if row.difference > 0 else "less"
    return f"{value}, {way} than {study.label(study.baseline)} ({n})"
