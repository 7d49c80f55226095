"""Which of several options is chosen, from what is known of each option (McFadden 1974).

Owns the conditional logit: the chance of an option is exp(its utility) over the sum of all options of the
choice, and the utility is linear in columns of a design. Promises the exact maximum of the likelihood, up
to rounding, where there is one.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from fieldwork.statistics.arrays import Floats, Indices

_PRECISION = 1e-7
"""Largest slope of the log-likelihood at its maximum."""


class Choices(NamedTuple):
    """Choices among options, whose rows lie choice by choice.

    Attributes:
        starts: first row of each choice, in ascending order.
        winners: the row of each choice's chosen option.
    """

    starts: Indices
    winners: Indices
    n_rows: int

    @property
    def sizes(self) -> Indices:
        """Options of each choice."""
        return np.diff(np.append(self.starts, self.n_rows))

    @property
    def choice_of(self) -> Indices:
        """The choice of each row."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)


class LogitFit(NamedTuple):
    """A fitted conditional logit.

    Attributes:
        coefficients: change of log odds by column of the design.
        errors: their standard errors, from the curvature; NaN where the columns are not independent.
        rank: independent columns within choices: what is alike for all options of a choice says nothing.
    """

    log_likelihood: float
    coefficients: Floats
    errors: Floats
    rank: int


def fit_choices(design: Floats, choices: Choices) -> LogitFit:
    """The coefficients of the largest likelihood; `design` has a row an option, shape (rows, columns)."""
    n_columns = design.shape[1]
    if n_columns == 0:
        log_likelihood = -float(np.log(choices.sizes).sum())
        return LogitFit(log_likelihood, np.zeros(0), np.zeros(0), 0)
    choice_of = choices.choice_of
    means = np.add.reduceat(design, choices.starts) / choices.sizes[:, None]
    # centred within choices: the same likelihood with smaller utilities
    deviations = design - means[choice_of]

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        value, chances = _log_likelihood(deviations @ coefficients, choices, choice_of)
        slope = deviations[choices.winners].sum(axis=0) - deviations.T @ chances
        return -value, -slope

    def curvature(coefficients: Floats) -> Floats:
        _, chances = _log_likelihood(deviations @ coefficients, choices, choice_of)
        weights = chances[:, None] * deviations
        means_of_choices = np.add.reduceat(weights, choices.starts)
        hessian: Floats = deviations.T @ weights - means_of_choices.T @ means_of_choices
        return hessian

    best = minimize(
        loss,
        np.zeros(n_columns),
        jac=True,
        hess=curvature,
        method="trust-exact",
        options={"gtol": _PRECISION, "maxiter": 500},
    )
    rank = int(np.linalg.matrix_rank(deviations.T @ deviations, hermitian=True))
    errors = np.full(n_columns, np.nan)
    if rank == n_columns:
        errors = np.sqrt(np.diag(np.linalg.pinv(curvature(best.x))))
    return LogitFit(-float(best.fun), best.x, errors, rank)


class _Likelihood(NamedTuple):
    value: float
    chances: Floats


def _log_likelihood(utilities: Floats, choices: Choices, choice_of: Indices) -> _Likelihood:
    """Log-likelihood of the choices, and the chance of each option: shape (rows,)."""
    highest = np.maximum.reduceat(utilities, choices.starts)
    weights = np.exp(utilities - highest[choice_of])
    totals = np.add.reduceat(weights, choices.starts)
    value = utilities[choices.winners].sum() - (highest + np.log(totals)).sum()
    return _Likelihood(float(value), weights / totals[choice_of])
