"""Scores of simulated runs, as the measures of `accuracy` have them."""

from collections.abc import Sequence

import pandas as pd

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import accuracy
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import RunAccuracy
from fieldwork.statistics.user_intervals import RAREST_USERS


def score_estimates(
    runs: Sequence[RunAccuracy],
    *,
    baseline: str = "offline",
    n_permutations: int = 1,
    seed: int = 1,
    rarest_users: float = RAREST_USERS,
    users: Sequence[str] = (),
    controls: Sequence[str] = (),
) -> list[Estimate]:
    """Of each arm and metric, beside the baseline."""
    settings = EstimateSettings(
        baseline, seed, users, controls, rarest_users, n_permutations=n_permutations
    )
    return estimate_question(accuracy.QUESTION, pd.DataFrame(list(runs)), settings)
