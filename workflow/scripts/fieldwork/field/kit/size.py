"""The page on sample size: how many participants a study needs to find which effect."""

from collections.abc import Iterator, Mapping, Sequence

from fieldwork.measures import effect_unit, measures
from fieldwork.records.field import FIELD
from fieldwork.records.power import PowerRow

_TITLES: Mapping[str, str] = {
    "option_share": "One answer's share differs from the offline share",
    "distance": "The answers to a prompt differ from the offline answers, as one of their shares does",
    "share_who": "Who asks accounts for a share of the variance",
    "entropy_bits": "Lists are more varied than offline",
    "score": "The mean score differs from the offline score",
}
_Effect = tuple[str, str, str, int]


def field_advice(
    advice: Sequence[Mapping[str, str]], tasks: Sequence[str]
) -> list[Mapping[str, str]]:
    """The rows of `advice.csv` about real users and these tasks."""
    return [row for row in advice if row["condition"] == FIELD and row["task"] in tasks]


def render(
    advice: Sequence[Mapping[str, str]],
    power: Sequence[PowerRow],
    tasks: Mapping[str, int],
    repeats: int,
) -> str:
    """The page.

    Args:
        advice: rows of `advice.csv`, as text.
        tasks: number of prompts of each task that the survey asks.
        repeats: how often a participant sends each prompt.
    """
    advice_rows = field_advice(advice, [*tasks])
    curves = _curves(row for row in power if row.condition == FIELD and row.task in tasks)
    parts = [_HEAD.strip()]
    for task, n_items in tasks.items():
        parts.append(f"## {task}, {n_items} prompt{'s' if n_items != 1 else ''}")
        for measure, title in {**_TITLES, **_declared_titles()}.items():
            rows = [row for row in advice_rows if (row["task"], row["measure"]) == (task, measure)]
            if rows:
                parts += [f"### {title}", _note(measure, repeats), _table(rows, curves)]
    if not advice_rows:
        parts.append("`snakemake power` has no rows for the tasks of this survey.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _declared_titles() -> dict[str, str]:
    return {
        name: f"{measure.title}: {measure.directions[0]} than offline"
        for name, measure in measures().items()
        if measure.is_claimed and name not in _TITLES
    }


def _curves(rows: Iterator[PowerRow] | Sequence[PowerRow]) -> dict[_Effect, dict[int, str]]:
    """Power by size, of each effect; the models of a study share it."""
    curves: dict[_Effect, dict[int, str]] = {}
    for row in rows:
        curve = curves.setdefault((row.measure, row.task, row.effect, row.replicates), {})
        # beyond 0.995 nothing is simulated, and some effects have no source
        is_sure = (row.reason or "").startswith("not simulated")
        not_simulated = "> 0.99" if is_sure else "–"
        curve[row.n_users] = not_simulated if row.power is None else f"{row.power:.2f}"
    return curves


def _table(rows: Sequence[Mapping[str, str]], curves: Mapping[_Effect, Mapping[int, str]]) -> str:
    n_users_by_effect = {
        (r["measure"], r["task"], r["effect"], int(r["replicates"])): r["n_users"] for r in rows
    }
    sizes = sorted({size for effect in n_users_by_effect for size in curves.get(effect, {})})
    target = f"{float(rows[0]['target']) * 100:g} %"
    head = ["effect", f"participants for a power of {target}", *(f"with {n}" for n in sizes)]
    lines = [_row(head), _row(["---"] * len(head))]
    effects_at_smallest_size = set[str]()
    for effect, n_users in n_users_by_effect.items():
        if effect[2] in effects_at_smallest_size:
            # where the smallest size will do, sending a prompt more often is not needed
            continue
        if sizes and n_users == str(sizes[0]):
            effects_at_smallest_size.add(effect[2])
            n_users = f"{n_users} or fewer"
        powers = [curves.get(effect, {}).get(size, "") for size in sizes]
        n_users_text = n_users or _not_reached(powers, sizes)
        lines.append(_row([_effect(effect), n_users_text, *powers]))
    return "\n".join(lines)


def _not_reached(powers: Sequence[str], sizes: Sequence[int]) -> str:
    return "no such source" if "–" in powers else f"more than {max(sizes, default=0)}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def times_text(n: int) -> str:
    """Once, twice, 3 times."""
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _effect(effect: _Effect) -> str:
    measure, _, label, replicates = effect
    if measure in ("option_share", "distance"):
        offline_share, field_share = (float(share) * 100 for share in label.split(" -> "))
        return f"{offline_share:g} % → {field_share:g} %"
    if measure == "share_who":
        return f"{float(label) * 100:g} %, each prompt sent {times_text(replicates)}"
    if measure == "score":
        return f"{float(label) * 100:g} points"
    return f"{label} {effect_unit(measures()[measure])}"


def _note(measure: str, repeats: int) -> str:
    if measure != "share_who":
        return ""
    return (
        "This needs participants who send a prompt several times (`field_kit.repeats`); "
        f"in this survey each prompt is sent {times_text(repeats)}."
    )


_HEAD = """
# How many participants

These tables come from `snakemake power`. Power is the share of simulated studies that would claim an
effect of the given size, after the study's own correction. The offline arm has as many answers as there
are participants.

Participants count only if their answers are *kept*. Recruit more, by the share that your pilot loses
(`results/{study}/field/attrition.csv`). Differences between groups of participants need far more people,
because each group counts on its own. Effects, sources and target are set under `power` in the config;
docs/methods.md, "Planning a study", lists the assumptions.
"""
