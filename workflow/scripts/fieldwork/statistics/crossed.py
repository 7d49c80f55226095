"""Means over prompts that the same people answer, where people and prompts are both a sample.

Owns the interval of such a mean for other people and other prompts like these: prompts and people are
crossed. Puppets and answers of nobody are people here.
"""

import math
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import Interval, jackknife_variance, student_interval


class PeopleVariance(NamedTuple):
    """The variance that other people would put into values of prompts, and its degrees of freedom.

    Attributes:
        of_mean: of the mean over the prompts.
        of_prompt: of the value of one prompt, mean over the prompts.
    """

    of_mean: float
    of_prompt: float
    freedom: float


def crossed_interval(values: Floats, people: PeopleVariance) -> Interval:
    """Interval of a mean over two or more prompts, for other people and other prompts.

    Prompts add their own variance to that of people: the variance between the values, less what people
    make of it, and never below 0 (the components of a two-way layout: Searle, Casella and McCulloch
    1992). Student's *t* has the degrees of freedom of the fewer, prompts or people.

    Args:
        values: one a prompt, shape (prompts,).
    """
    n = len(values)
    # mean covariance of two prompts' values, as far as people make it
    covariance = (n * people.of_mean - people.of_prompt) / (n - 1)
    prompts = (float(values.var(ddof=1)) - (people.of_prompt - covariance)) / n
    error = math.sqrt(people.of_mean + max(0.0, prompts))
    return student_interval(float(values.mean()), error, min(n - 1, people.freedom))


def people_variance(values: Floats) -> PeopleVariance:
    """What people put into means over them: the jackknife over two or more people.

    Args:
        values: one a person and prompt, shape (people, prompts), NaN where a person has none. Each
            prompt has one at least.
    """
    is_there = ~np.isnan(values)
    known_values = np.where(is_there, values, 0.0)
    counts = is_there.sum(axis=0)
    n_others = counts - is_there
    # a prompt that one person alone answers goes with that person
    means_without = np.where(
        n_others > 0, (known_values.sum(axis=0) - known_values) / np.maximum(n_others, 1), np.nan
    )
    is_repeated = counts > 1
    spread = np.nanvar(values[:, is_repeated], axis=0, ddof=1) / counts[is_repeated]
    return PeopleVariance(
        of_mean=float(jackknife_variance(np.nanmean(means_without, axis=1))),
        of_prompt=math.fsum(spread.tolist()) / max(1, len(spread)),
        freedom=len(values) - 1,
    )
