"""How often intervals of judgements hold the truth: ratings with planted worth, noise and inflation.

usage: PYTHONPATH=workflow/scripts python benchmarks/judging/run.py    writes results.md; some minutes

A study has 40 users, with four units each or with very unequal numbers of units. Three of six people rate
the first unit of each user and half of the others, and two judges rate all of them. One judge adds 0.6 to
its ratings; both lean to one side with some users, so that the units of a user are alike.

The alternative-annotator test is held at its edge: the penalty is what the judge is truly worse by than a
person, so that every judge that passes is an error.
"""

import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.agreement_rows import agreement_rows
from fieldwork.metrics.judgements.alternative_annotators import LEVEL, alternative_annotators
from fieldwork.metrics.judgements.judges import judge_rows
from fieldwork.metrics.judgements.prediction_powered import prediction_powered_rows
from fieldwork.metrics.judgements.sample import JudgementSample, sample_of
from fieldwork.metrics.judgements.shares import share_rows
from fieldwork.records.judging import JudgementEstimate
from fieldwork.sections.judging import Scale

SCALE = Scale(name="rating", level="interval", options=[*"12345"], accepted=[*"45"])
JUDGES = {"kind judge": 0.6, "fair judge": 0.0}
N_STUDIES, N_USERS, N_TRUE_USERS = 400, 40, 6_000
RAREST_USERS = 0.125

Key = tuple[str, str, str | None]


def _four_each(_generator: np.random.Generator, n_users: int) -> list[int]:
    return [4] * n_users


def _very_unequal(generator: np.random.Generator, n_users: int) -> list[int]:
    """Log-normal: the median user has three units, one in forty more than thirty."""
    counts = 1 + np.floor(generator.lognormal(0.8, 1.3, n_users)).clip(max=80)
    return [int(count) for count in counts]


SOURCES: Mapping[str, Callable[[np.random.Generator, int], list[int]]] = {
    "four units each": _four_each,
    "very unequal users": _very_unequal,
}


class Judgements(NamedTuple):
    """Ratings of a study as the library reads them."""

    judgements: pd.DataFrame
    units: pd.DataFrame

    def sample(self, scale: Scale = SCALE) -> JudgementSample:
        return sample_of(self.judgements, self.units, scale, RAREST_USERS)


def planted(seed: int, n_users: int, source: str) -> Judgements:
    """A study's ratings."""
    generator = np.random.default_rng(seed)
    rows = []
    for user, n_units in enumerate(SOURCES[source](generator, n_users)):
        worth_of_user = generator.normal(3, 0.5)
        leanings = {judge: generator.normal(higher, 0.4) for judge, higher in JUDGES.items()}
        for unit in range(n_units):
            worth = worth_of_user + generator.normal(0, 0.6)
            is_rated = unit == 0 or generator.random() < 0.5
            people = generator.choice(6, size=3, replace=False) if is_rated else []
            raters = [(f"p{person}", "person", 0.0) for person in people]
            raters += [(judge, "model", leaning) for judge, leaning in leanings.items()]
            for rater, kind, higher in raters:
                rating = worth + higher + generator.normal(0, 0.6)
                rows.append((f"{user}/{unit}", f"u{user}", rater, kind, rating))
    columns = ["unit_id", "user_id", "rater", "rater_kind", "rating"]
    frame = pd.DataFrame(rows, columns=columns)
    value = frame.pop("rating").round().clip(1, 5).astype(int).astype(str)
    judgements = frame.drop(columns="user_id").assign(
        scale=SCALE.name, repeat=0, value=value, first_side=None
    )
    units = frame.drop_duplicates("unit_id")[["unit_id", "user_id"]].assign(
        unit_group=None, author_a=None, author_b=None
    )
    return Judgements(judgements, units)


def estimates(sample: JudgementSample) -> dict[Key, JudgementEstimate]:
    """Every estimate that has an interval."""
    rows = [*share_rows(sample, None), *agreement_rows(sample, None)]
    for judge in sample.models():
        rows += [*judge_rows(sample, judge, None), *prediction_powered_rows(sample, judge)]
    return {(r.measure, r.raters, r.versus): r for r in rows if r.option is None}


def coverage(source: str) -> Iterator[str]:
    """Lines on how often the intervals of each estimate hold the truth."""
    truth = {
        key: row.estimate
        for key, row in estimates(planted(0, N_TRUE_USERS, source).sample()).items()
    }
    n_hits: Counter[Key] = Counter()
    n_intervals: Counter[Key] = Counter()
    for seed in range(1, N_STUDIES + 1):
        for key, row in estimates(planted(seed, N_USERS, source).sample()).items():
            if row.ci_low is not None and row.ci_high is not None:
                n_intervals[key] += 1
                n_hits[key] += row.ci_low <= (truth[key] or 0.0) <= row.ci_high
    yield from (
        "| measure | raters | versus | holds the truth, % | intervals |",
        "|---|---|---|---|---|",
    )
    for measure, raters, versus in n_intervals:
        key = measure, raters, versus
        share = 100 * n_hits[key] / n_intervals[key]
        yield f"| {measure} | {raters} | {versus or '–'} | {share:.1f} | {n_intervals[key]} |"


def edge(source: str) -> Iterator[str]:
    """Lines on how often a judge passes for a person at the edge of what may pass."""
    n_tests: Counter[str] = Counter()
    n_passed: dict[str, Counter[str]] = {"units": Counter(), "both": Counter()}
    large = planted(0, N_TRUE_USERS, source)
    for judge in JUDGES:
        tests = alternative_annotators(large.sample(), judge)
        penalty = float(np.mean([(t.person_share or 0.0) - (t.judge_share or 0.0) for t in tests]))
        scale = SCALE.model_copy(update={"penalty": penalty})
        for seed in range(1, N_STUDIES + 1):
            for test in alternative_annotators(planted(seed, N_USERS, source).sample(scale), judge):
                if test.p_value is None or test.p_by_user is None:
                    continue
                n_tests[judge] += 1
                n_passed["units"][judge] += test.p_value <= LEVEL
                n_passed["both"][judge] += max(test.p_value, test.p_by_user) <= LEVEL
    yield from (
        "| judge | tests | passes as published, % | with users too, % |",
        "|---|---|---|---|",
    )
    for judge, n in n_tests.items():
        shares = " | ".join(f"{100 * passed[judge] / n:.1f}" for passed in n_passed.values())
        yield f"| {judge} | {n} | {shares} |"


def main() -> None:
    """Simulate, count, write."""
    lines = [
        "# Intervals of judgements",
        "",
        f"{date.today()}. Made by [run.py](run.py): {N_STUDIES} studies of {N_USERS} users.",
        f"Python {platform.python_version()} on {platform.machine()}. The truth is the estimate of "
        f"{N_TRUE_USERS:,} users.",
    ]
    for source in SOURCES:
        lines += ["", f"## {source.capitalize()}", "", *coverage(source)]
        lines += ["", "The alternative-annotator test at its edge, each person by itself:", ""]
        lines += edge(source)
        print(f"{source} is done", flush=True)
    path = Path(__file__).with_name("results.md")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
