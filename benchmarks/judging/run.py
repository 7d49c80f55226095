"""How often intervals of judgements hold the truth: ratings with planted worth, noise and inflation.

usage: PYTHONPATH=workflow/scripts python benchmarks/judging/run.py    writes results.md; some minutes

Each study has 40 users with four units. Three of six people rate each unit, and two judges, of which one
adds 0.6 to its ratings. The truth is the estimate of 3,000 users.
"""

import platform
from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.agreement_rows import agreement_rows
from fieldwork.metrics.judgements.judges import judge_rows
from fieldwork.metrics.judgements.sample import JudgementSample, sample_of
from fieldwork.metrics.judgements.shares import share_rows
from fieldwork.records.judging import JudgementEstimate, Scale

SCALE = Scale("rating", "interval", ("1", "2", "3", "4", "5"))
JUDGES = {"kind judge": 0.6, "fair judge": 0.0}
N_STUDIES, N_USERS, N_TRUE_USERS = 200, 40, 3_000
RAREST_USERS = 0.125

Key = tuple[str, str, str | None]


def planted(seed: int, n_users: int) -> JudgementSample:
    """A study's ratings."""
    generator = np.random.default_rng(seed)
    rows = []
    for user in range(n_users):
        worth_of_user = generator.normal(3, 0.5)
        for unit in range(4):
            worth = worth_of_user + generator.normal(0, 0.6)
            people = generator.choice(6, size=3, replace=False)
            raters = [(f"p{person}", "person", 0.0) for person in people]
            raters += [(judge, "model", higher) for judge, higher in JUDGES.items()]
            for rater, kind, higher in raters:
                rating = worth + higher + generator.normal(0, 0.6)
                rows.append((f"{user}/{unit}", f"u{user}", rater, kind, rating))
    columns = ["unit_id", "user_id", "rater", "rater_kind", "rating"]
    frame = pd.DataFrame(rows, columns=columns)
    value = frame.pop("rating").round().clip(1, 5).astype(int).astype(str)
    judgements = frame.drop(columns="user_id").assign(
        scale=SCALE.name, repeat=0, value=value, first_side=None
    )
    units = frame.drop_duplicates("unit_id")[["unit_id", "user_id"]].assign(unit_group=None)
    return sample_of(judgements, units, SCALE, RAREST_USERS)


def estimates(sample: JudgementSample) -> dict[Key, JudgementEstimate]:
    """Every estimate that has an interval."""
    rows = [*share_rows(sample, None), *agreement_rows(sample, None)]
    for judge in sample.models():
        rows += judge_rows(sample, judge, None)
    return {(r.measure, r.raters, r.versus): r for r in rows if r.option is None}


def main() -> None:
    """Simulate, count, write."""
    truth = {key: row.estimate for key, row in estimates(planted(0, N_TRUE_USERS)).items()}
    n_hits: Counter[Key] = Counter()
    n_intervals: Counter[Key] = Counter()
    for seed in range(1, N_STUDIES + 1):
        for key, row in estimates(planted(seed, N_USERS)).items():
            if row.ci_low is not None and row.ci_high is not None:
                n_intervals[key] += 1
                n_hits[key] += row.ci_low <= (truth[key] or 0.0) <= row.ci_high
    lines = [
        "# Intervals of judgements",
        "",
        f"{date.today()}. Made by [run.py](run.py): {N_STUDIES} studies of {N_USERS} users with four "
        f"units each.",
        f"Python {platform.python_version()} on {platform.machine()}. The truth is the estimate of "
        f"{N_TRUE_USERS:,} users.",
        "",
        "| measure | raters | versus | holds the truth, % | intervals |",
        "|---|---|---|---|---|",
    ]
    for key in n_intervals:
        measure, raters, versus = key
        share = 100 * n_hits[key] / n_intervals[key]
        lines.append(
            f"| {measure} | {raters} | {versus or '–'} | {share:.1f} | {n_intervals[key]} |"
        )
    path = Path(__file__).with_name("results.md")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
