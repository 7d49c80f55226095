"""The advice of `snakemake power` as a page of sentences, in Markdown."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.measures import effect_unit, measures
from fieldwork.metrics.claims.families import PRIMARY
from fieldwork.metrics.power.effects import ProbabilitySource
from fieldwork.metrics.power.family import counted_measures
from fieldwork.metrics.power.simulation import POWER_CEILING, SIMULATIONS
from fieldwork.metrics.power.study import PlannedStudy, declared_questions
from fieldwork.records.field import FIELD
from fieldwork.records.power import PowerAdvice
from fieldwork.statistics.families import LEVEL

_TITLES: Mapping[str, str] = {
    "option_share": "The share of an answer differs from the baseline's",
    "distance": "The answers to a prompt differ, as one of their shares does",
    "share_who": "A share of the variance of answers lies between contexts",
    "entropy_bits": "Lists are more varied than the baseline's",
    "score": "The mean score differs from the baseline's",
    "value": "The mean of points or numbers differs from the baseline's",
}
_TESTS: Mapping[str, str] = {
    "option_share": (
        "Each user answers each prompt once; the baseline has as many reruns. The answer's share moves "
        "in one prompt. Each option of each prompt has a test (Fisher's, table `shifts`)."
    ),
    "distance": (
        "The same change, seen in all answers to the prompt at once. Each prompt has a permutation test "
        "(table `comparisons`)."
    ),
    "share_who": "One permutation test over all prompts (table `variance`); no baseline is needed.",
    "score": (
        "Each user has one score; the baseline has as many reruns. One permutation test of the mean "
        "scores (table `estimates`)."
    ),
    "value": (
        "Each user answers each question once; the baseline has as many reruns. The mean moves by so "
        "many standard deviations of one answer. Each question has a permutation test, and several "
        "scales have one of their mean, in which all of them move (table `value_comparisons`)."
    ),
}

_TESTS_OF_PROBABILITIES: Mapping[str, str] = {
    "option_share": (
        "Each user states the probability of each letter once, and the baseline twice. The letter's mean "
        "probability moves in one prompt. Each letter of each prompt has a test (table `shifts`)."
    ),
    "distance": (
        "The same change, seen in all letters of the prompt at once (table `comparisons`)."
    ),
    "share_who": "Probabilities say whether contexts differ, without a test (table `variance`).",
    "score": (
        "Each user has one score to expect, and the baseline's is known. One *t* test of the mean scores "
        "(table `estimates`)."
    ),
}
"""Where `study.probabilities` is `instead`."""

_DECLARED_TEST = "One *t* test of the mean over all prompts (table `estimates`)."


def render(advice: Sequence[PowerAdvice], study: PlannedStudy) -> str:
    """The whole page."""
    study = study._replace(
        models={name: literal(label) for name, label in study.models.items()},
        conditions={name: literal(label) for name, label in study.conditions.items()},
    )
    head = _HEAD.format(
        study=literal(study.name),
        simulations=study.settings.simulations,
        target=_percent(study.settings.target),
        level=_percent(LEVEL),
        ceiling=_percent(POWER_CEILING),
    )
    parts = ["# How large a study must be", _fill(head), *_silence(study)]
    read_advice = [row for row in advice if _is_read(row, study)]
    if advice and not read_advice:
        parts.append(_fill(_NO_USERS))
    for task in dict.fromkeys(row.task for row in read_advice):
        rows, n_items = [row for row in read_advice if row.task == task], study.tasks[task].count()
        parts.append(f"## {literal(task)}, {_count(n_items, 'prompt')}")
        parts.append(_fill(_supposition(rows, n_items, study, task)))
        for measure, title in _titles().items():
            own_rows = [row for row in rows if row.measure == measure]
            if own_rows:
                parts.append(f"### {title}\n\n{_fill(_test(measure, task, study))}")
                parts += _families(own_rows, study)
    idle_tasks = [task for task in study.tasks if task not in {row.task for row in advice}]
    if idle_tasks:
        parts.append(
            f"No test is planned for {literal(', '.join(idle_tasks))}, whose answers are texts."
        )
    return "\n\n".join([*parts, _FOOT.strip()]) + "\n"


def _test(measure: str, task: str, study: PlannedStudy) -> str:
    """How a measure of a task is tested, in a sentence or two."""
    if isinstance(study.source(task), ProbabilitySource) and measure in _TESTS_OF_PROBABILITIES:
        return _TESTS_OF_PROBABILITIES[measure]
    return _TESTS.get(measure, _DECLARED_TEST)


def _titles() -> dict[str, str]:
    """Headings by measure, in the order of the page: declared measures stand after who asks."""
    of_declared = {
        name: f"{measure.title}: {measure.directions[0]} than the baseline's"
        for name, measure in measures().items()
        if measure.is_claimed
    }
    of_options = {name: _TITLES[name] for name in ("option_share", "distance", "share_who")}
    return {**of_options, **of_declared, **_TITLES}


_NO_USERS = (
    "No condition of the study has a user, so that no test of what users change is planned. Add one with "
    "users, such as `history`, to `study.conditions`, or participants (`field`)."
)


def _silence(study: PlannedStudy) -> Iterator[str]:
    """Primary measures that the page cannot speak of, and those that it does not count."""
    measures = dict.fromkeys(entry.measure for entry in study.rules.primary)
    counted_set, power_set = {*counted_measures()}, {*SIMULATIONS, *declared_questions()}
    counted_names = [f"`{name}`" for name in measures if name in counted_set - power_set]
    if counted_names:
        listing = ", ".join(counted_names)
        yield f"`study.primary` also names {listing}, of which no effect is simulated."
    names = [f"`{name}`" for name in measures if name not in counted_set]
    if names:
        yield _fill(
            f"`study.primary` also names {', '.join(names)}, whose tests are not counted here. The study "
            "corrects for more primary tests than this page says, and needs more users."
        )


def _is_read(row: PowerAdvice, study: PlannedStudy) -> bool:
    """Participants are on the page where the study has or prices them; the tables always have them."""
    has_field = FIELD in study.rules.users
    has_price = study.settings.field_cost_usd is not None
    return row.condition != FIELD or has_field or has_price


def _supposition(rows: Sequence[PowerAdvice], n_items: int, study: PlannedStudy, task: str) -> str:
    """What the answers to a task are supposed to be."""
    n_settled, odd_users = rows[0].n_settled, rows[0].odd_users
    lines = [f"Supposed: {literal(', '.join(dict.fromkeys(row.source for row in rows)))}"]
    if n_settled:
        lines.append(f"everybody answers {n_settled:,} of the {_count(n_items, 'prompt')} alike")
    if odd_users < 1:
        lines.append(f"{_percent(odd_users)} of the users carry the whole effect")
    else:
        lines.append("every user carries the effect")
    if isinstance(study.source(task), ProbabilitySource):
        share = study.supposed_share(task)
        lines.append(
            f"{_percent(share.value)} of the variance of letters lies between users ({share.basis})"
        )
    for likeness, basis in dict.fromkeys((row.likeness, row.likeness_basis) for row in rows):
        if likeness is not None:
            lines.append(f"a user's answers to two prompts correlate by {likeness:.2g} ({basis})")
    return "; ".join(lines) + "."


def _families(rows: Sequence[PowerAdvice], study: PlannedStudy) -> Iterator[str]:
    """The sizes of each effect, by the family that its test is in."""
    families: dict[tuple[str, str], list[PowerAdvice]] = {}
    for row in rows:
        users = FIELD if row.condition == FIELD else "simulated"
        families.setdefault((users, row.family), []).append(row)
    for own_rows in families.values():
        yield _describe_family(own_rows, study)
        yield "\n".join(_bullets(own_rows, study))


def _describe_family(rows: Sequence[PowerAdvice], study: PlannedStudy) -> str:
    first = rows[0]
    kind = "primary comparisons" if first.family == PRIMARY else "secondary"
    numbers = sorted({row.n_tests for row in rows if row.n_tests is not None})
    n_tests = _count(numbers[-1], "test") if numbers else "no test"
    if len(numbers) > 1:
        n_tests = f"{numbers[0]:,} to {n_tests}"
    names = dict.fromkeys(study.conditions.get(row.condition, "Participants") for row in rows)
    return _fill(
        f"{', '.join(names)}: {kind}, {n_tests} corrected together ({first.correction}), of which this "
        "one has an effect."
    )


def _bullets(advice: Sequence[PowerAdvice], study: PlannedStudy) -> Iterator[str]:
    final_effects: set[str] = set()
    groups: dict[tuple[str, int], list[PowerAdvice]] = {}
    for row in advice:
        groups.setdefault((row.effect, row.replicates), []).append(row)
    for rows in groups.values():
        first = rows[0]
        if first.effect in final_effects:
            # where the smallest size will do, more answers of each user are not needed
            continue
        if _is_smallest_tried(first):
            final_effects.add(first.effect)
        times = f", each asked {_times(first.replicates)}" if first.measure == "share_who" else ""
        yield f"- {_effect(first)}{times}: {_size(first)}{_costs(rows, study)}"


def _effect(row: PowerAdvice) -> str:
    if row.measure in ("option_share", "distance"):
        baseline, condition = row.effect.split(" -> ")
        return f"**{_percent(float(baseline))} → {_percent(float(condition))}**"
    if row.measure == "share_who":
        return f"**{_percent(float(row.effect))} of the variance**"
    if row.measure == "score":
        return f"**{float(row.effect) * 100:.4g} points**"
    if row.measure == "value":
        difference, _, together = row.effect.partition(" ")
        place = f" in {literal(row.source)}" if together else ""
        return f"**{difference} standard deviations**{place}"
    return f"**{row.effect} {effect_unit(measures()[row.measure])}**"


def _size(row: PowerAdvice) -> str:
    if row.power is None:
        return f"{row.reason or 'no source of such an effect'}."
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


def _costs(rows: Sequence[PowerAdvice], study: PlannedStudy) -> str:
    """What each condition takes, model by model, baseline included."""
    lines = []
    for model in dict.fromkeys(row.model for row in rows if row.n_users is not None):
        arms = [
            f"{study.conditions.get(row.condition, 'Field')} {_calls_and_price(row)}"
            for row in rows
            if row.model == model and (row.condition != FIELD or row.cost_usd is not None)
        ]
        lines.append(f"\n  {study.models.get(model, literal(model))}: {'; '.join(arms)}.")
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


def _fill(text: str) -> str:
    return textwrap.fill(text, width=110)


def _percent(share: float) -> str:
    return f"{share * 100:.4g} %"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


_HEAD = """Study: {study}. Power is the share of {simulations:,} simulated studies whose page of findings
would claim the effect. Each makes the study's own test at {level} and corrects it as the study does. The
target power is {target}. A user is a puppet or a participant. Other tasks have the users that the config
gives them. Brackets hold the 95 % interval of the simulation. Sizes between two simulated ones are read
off a straight line. Once power reaches {ceiling}, larger sizes are not simulated. power.csv next to this
page has every size. docs/methods.md, "Planning a study", lists the assumptions."""

_FOOT = """
Calls and dollars are those of `snakemake plan` for an arm of this size before any answer is there; they
include the baseline's. Prices come from the config, with the day they were read.
`power.field_cost_usd` sets the cost of a participant.
"""
