"""The advice of `snakemake power` as a page of sentences, in Markdown."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from fieldwork.metrics.power.table import PlannedStudy, group_by_effect
from fieldwork.records.field import FIELD
from fieldwork.records.power import Design, PowerAdvice

_TITLES: Mapping[Design, str] = {
    "shares": "The share of an answer differs from the baseline's",
    "who": "A share of the variance of answers lies between contexts",
    "scores": "The mean score differs from the baseline's",
}


def render(
    advice: Sequence[PowerAdvice], planned_study: PlannedStudy, items: Mapping[str, int]
) -> str:
    """The whole page.

    Args:
        items: number of prompts of each task.
    """
    settings = planned_study.settings
    head = _HEAD.format(
        study=planned_study.name,
        simulations=settings["simulations"],
        target=_percent(settings["target"]),
        level=_percent(settings["alpha"]),
    )
    parts = ["# How large a study must be", textwrap.fill(head, width=110)]
    for task in dict.fromkeys(row.task for row in advice):
        n_items = items[task]
        parts.append(f"## {task}, {_count(n_items, 'prompt')}")
        for design, title in _TITLES.items():
            rows = [row for row in advice if (row.task, row.design) == (task, design)]
            if rows:
                parts.append(f"### {title}\n\n{_describe_test(rows[0], n_items)}")
                parts.append("\n".join(_bullets(rows, planned_study)))
    return "\n\n".join([*parts, _FOOT.strip()]) + "\n"


def _describe_test(row: PowerAdvice, n_items: int) -> str:
    n_tests = row.n_tests
    match row.design:
        case "shares":
            return (
                "Each user answers each prompt once; the baseline has as many reruns. "
                f"One test a prompt; {_count(n_tests, 'test')} corrected together (Holm)."
            )
        case "who":
            return (
                f"One test over all {_count(n_items, 'prompt')}; no baseline is needed. "
                f"The simulated answers are {row.source}."
            )
        case "scores":
            return (
                "Each user has one score; the baseline has as many reruns. "
                f"{_count(n_tests, 'condition')} corrected together (Bonferroni)."
            )


def _bullets(advice: Sequence[PowerAdvice], planned_study: PlannedStudy) -> Iterator[str]:
    final_effects: set[str] = set()
    for rows in group_by_effect(advice).values():
        first = rows[0]
        if first.effect in final_effects:
            # where the smallest size will do, more answers of each user are not needed
            continue
        if _is_smallest_tried(first):
            final_effects.add(first.effect)
        times = f", each asked {_times(first.replicates)}" if first.design == "who" else ""
        yield f"- {_effect(first)}{times}: {_size(first)}{_costs(rows, planned_study)}"


def _effect(row: PowerAdvice) -> str:
    match row.design:
        case "shares":
            baseline, condition = row.effect.split(" -> ")
            return f"**{_percent(float(baseline))} → {_percent(float(condition))}**"
        case "who":
            return f"**{_percent(float(row.effect))} of the variance**"
        case "scores":
            return f"**{float(row.effect) * 100:.4g} points**"


def _size(row: PowerAdvice) -> str:
    interval = f"{row.ci_low or 0:.2f} to {row.ci_high or 0:.2f}"
    if row.n_users is None:
        reason, _, _ = (row.reason or "").partition(";")
        return f"{reason} ({interval})."
    users = f"**{_count(row.n_users, 'user')}**"
    if row.n_users == row.n_simulated:
        fewer = " or fewer" if _is_smallest_tried(row) else ""
        return f"{users}{fewer} (power {row.power:.2f}, {interval})."
    return f"{users} (with {row.n_simulated} power is {row.power:.2f}, {interval})."


def _is_smallest_tried(row: PowerAdvice) -> bool:
    return row.n_users is not None and "smallest size" in (row.reason or "")


def _costs(rows: Sequence[PowerAdvice], planned_study: PlannedStudy) -> str:
    """What each condition takes, model by model, baseline included."""
    lines = []
    for model in dict.fromkeys(row.model for row in rows if row.n_users is not None):
        arms = [
            f"{planned_study.conditions.get(row.condition, 'Field')} {_calls_and_price(row)}"
            for row in rows
            if row.model == model and (row.condition != FIELD or row.cost_usd is not None)
        ]
        lines.append(f"\n  {planned_study.models.get(model, model)}: {'; '.join(arms)}.")
    return "".join(lines)


def _calls_and_price(row: PowerAdvice) -> str:
    n_calls, n_baseline = row.n_calls or 0, row.n_calls_baseline or 0
    if row.condition == FIELD:
        calls = _count(n_calls, "pasted prompt")
        calls += f" and {_count(n_baseline, 'call')}" if n_baseline else ""
    else:
        calls = _count(n_calls + n_baseline, "call")
    if row.cost_usd is None:
        return f"{calls}, cost unknown"
    if row.cost_usd == 0:
        return calls
    digits = 4 if row.cost_usd < 0.1 else 2
    return f"{calls}, ${row.cost_usd:,.{digits}f}"


def _percent(share: float) -> str:
    return f"{share * 100:.4g} %"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


_HEAD = """Study: {study}. Power is the share of {simulations:,} simulated studies that detect
an effect of the given size. Each simulated study makes the study's own test at {level}; the target power
is {target}. A user is a puppet or a participant. Brackets hold the 95 % interval of the simulation. Sizes
between two simulated ones are read off a straight line; power.csv next to this page has every size.
docs/methods.md, "Planning a study", lists the assumptions."""

_FOOT = """
Calls and dollars are those of `snakemake plan` for an arm of this size before any answer is there; they
include the baseline's. Prices come from the config, with the day they were read.
`power.field_cost_usd` sets the cost of a participant.
"""
