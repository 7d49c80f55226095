"""The advice of `snakemake power` as a page of sentences, in Markdown."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.metrics.power.table import by_effect
from fieldwork.records.field import FIELD
from fieldwork.records.power import Design, PowerAdvice

_TITLES: Mapping[Design, str] = {
    "shares": "A share of answers moves from the baseline's",
    "who": "A share of the variance of answers comes from who asks",
    "scores": "The mean score differs from the baseline's",
}


class Facts(NamedTuple):
    """What the page says besides the rows; names map to how they are printed."""

    study: str
    simulations: int
    alpha: float
    target: float
    items: Mapping[str, int]
    models: Mapping[str, str]
    conditions: Mapping[str, str]


def render(advice: Sequence[PowerAdvice], facts: Facts) -> str:
    """The whole page."""
    told = _HEAD.format(facts=facts, target=_percent(facts.target), level=_percent(facts.alpha))
    parts = ["# How large a study must be", textwrap.fill(told, width=110)]
    for task in dict.fromkeys(row.task for row in advice):
        n_items = facts.items[task]
        parts.append(f"## {task}, {_count(n_items, 'prompt')}")
        for design, title in _TITLES.items():
            own = [row for row in advice if (row.task, row.design) == (task, design)]
            if own:
                parts.append(f"### {title}\n\n{_how_tested(own[0], n_items)}")
                parts.append("\n".join(_bullets(own, facts)))
    return "\n\n".join([*parts, _FOOT.strip()]) + "\n"


def _how_tested(row: PowerAdvice, n_items: int) -> str:
    n_tests = row.n_tests
    match row.design:
        case "shares":
            return (
                "One answer a user to each prompt, as many reruns of the baseline; a test a prompt, "
                f"{_count(n_tests, 'test')} corrected together (Holm)."
            )
        case "who":
            return (
                f"All {_count(n_items, 'prompt')} in one test; no baseline is needed. "
                f"Answers are taken for {row.source}."
            )
        case "scores":
            return (
                "One score a user, as many reruns of the baseline; "
                f"{_count(n_tests, 'condition')} corrected together (Bonferroni)."
            )


def _bullets(own: Sequence[PowerAdvice], facts: Facts) -> Iterator[str]:
    enough: set[str] = set()
    for rows in by_effect(own).values():
        first = rows[0]
        if first.effect in enough:
            # where the smallest size will do, more answers of each user are not needed
            continue
        if _may_be_fewer(first):
            enough.add(first.effect)
        times = f", each asked {_times(first.replicates)}" if first.design == "who" else ""
        yield f"- {_effect(first)}{times}: {_size(first)}{_costs(rows, facts)}"


def _effect(row: PowerAdvice) -> str:
    match row.design:
        case "shares":
            before, after = row.effect.split(" -> ")
            return f"**{_percent(float(before))} → {_percent(float(after))}**"
        case "who":
            return f"**{_percent(float(row.effect))} of the variance**"
        case "scores":
            return f"**{float(row.effect) * 100:.4g} points**"


def _size(row: PowerAdvice) -> str:
    interval = f"{row.ci_low or 0:.2f} to {row.ci_high or 0:.2f}"
    if row.n_users is None:
        said, _, _ = (row.reason or "").partition(";")
        return f"{said} ({interval})."
    users = f"**{_count(row.n_users, 'user')}**"
    if row.n_users == row.n_simulated:
        small = " or fewer" if _may_be_fewer(row) else ""
        return f"{users}{small} (power {row.power:.2f}, {interval})."
    return f"{users} (with {row.n_simulated} power is {row.power:.2f}, {interval})."


def _may_be_fewer(row: PowerAdvice) -> bool:
    return row.n_users is not None and "smallest size" in (row.reason or "")


def _costs(rows: Sequence[PowerAdvice], facts: Facts) -> str:
    """What each condition takes, model by model, baseline included."""
    said = []
    for model in dict.fromkeys(row.model for row in rows if row.n_users is not None):
        arms = [
            f"{facts.conditions.get(row.condition, 'Field')} {_price(row)}"
            for row in rows
            if row.model == model and (row.condition != FIELD or row.cost_usd is not None)
        ]
        said.append(f"\n  {facts.models.get(model, model)}: {'; '.join(arms)}.")
    return "".join(said)


def _price(row: PowerAdvice) -> str:
    asked, blank = row.n_calls or 0, row.n_calls_baseline or 0
    if row.condition == FIELD:
        calls = _count(asked, "pasted prompt")
        calls += f" and {_count(blank, 'call')}" if blank else ""
    else:
        calls = _count(asked + blank, "call")
    if row.cost_usd is None:
        return f"{calls}, cost unknown"
    if row.cost_usd == 0:
        return calls
    digits = 4 if row.cost_usd < 0.1 else 2
    return f"{calls}, ${row.cost_usd:,.{digits}f}"


def _percent(share: float) -> str:
    return f"{share * 100:.4g} %"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


_HEAD = """Of the study {facts.study}. Power is the share of {facts.simulations:,} simulated studies
that find an effect which is there, tested at {level} as the study itself would; the target is {target}.
A user is a puppet or a participant. In brackets is the 95 % interval of the simulation. Sizes between
two simulated ones lie on a straight line; every size is in power.csv beside this page. What is assumed:
docs/methods.md, "Planning a study"."""

_FOOT = """
Calls and dollars are those of `snakemake plan` for an arm of this size with nothing answered yet, as the
config dispatches it, the baseline's included. Prices are the config's, with the day they were read;
`power.field_cost_usd` is what a participant costs.
"""
