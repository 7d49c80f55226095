"""The value of a prompt, and what each answer moves it: from samples of answers with options.

Owns the subsamples that bring answers to equal n, and what leaving an answer out does to them. All
measures of a prompt see the same subsamples, so that their noise cancels in comparisons. Answers that
state the probabilities of letters need no equal n: the mean of all of them is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from fieldwork.errors import StudyError, first_line
from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.declaration import EqualSize, Measure, Statistic
from fieldwork.estimates.means import PromptValue
from fieldwork.estimates.samples import OptionSample
from fieldwork.statistics.arrays import Counts, Floats, Indices, Mentions
from fieldwork.statistics.delete_many import scale_deviations, third_samples
from fieldwork.statistics.equal_n import random_orders, sampled_counts, smallest_sizes
from fieldwork.statistics.seeds import generator

Arms = Mapping[Arm, Mapping[str, OptionSample]]
ArmPrompts = Mapping[str, Mapping[str, PromptValue]]
"""Values by measure and prompt."""


def equal_sizes(arms: Arms) -> dict[tuple[str, str, str], int]:
    """The fewest answers to each prompt (by model, task and name) among the arms that have any."""
    return smallest_sizes(
        ((*arm.family, item), len(sample.options))
        for arm, items in arms.items()
        for item, sample in items.items()
    )


def prompt_values(
    arm: Arm,
    items: Mapping[str, OptionSample],
    measures: Sequence[Measure],
    sizes: Mapping[tuple[str, str, str], int],
    seed: int,
) -> dict[str, dict[str, PromptValue]]:
    """The values of an arm, by measure and prompt; of prompts with an answer."""
    thirds = _Thirds(arm, items, seed)
    values: dict[str, dict[str, PromptValue]] = {measure.name: {} for measure in measures}
    for item, sample in items.items():
        if not sample.options:
            continue
        random = generator(seed, "subsample", arm.model, arm.task, arm.condition, item)
        n_equal, samples = sizes[(*arm.family, item)], thirds.of(sample.users)
        value_of = _value_of(sample, n_equal, samples, random)
        for measure in measures:
            try:
                values[measure.name][item] = value_of(measure)
            # whatever a formula raises, its user has to know where
            except Exception as error:
                raise StudyError(
                    f"the measure {measure.name} cannot be computed of the answers to {item} "
                    f"({arm.model}, {arm.task}, {arm.condition}): {first_line(error)}; correct its "
                    f"formula in workflow/scripts/fieldwork/measures"
                ) from error
    return values


def _value_of(
    sample: OptionSample, n_equal: int, samples: Counts, random: np.random.Generator
) -> Callable[[Measure], PromptValue]:
    """What gives the value of a measure: of the probabilities of letters, or else of the options."""
    users = sample.users
    if sample.shares is not None:
        return partial(stated_value, users=users, shares=sample.shares, samples=samples)
    indicator = sample.indicator()
    orders = random_orders(len(indicator), n_equal, random)
    return partial(
        prompt_value,
        users=users,
        indicator=indicator,
        orders=orders,
        totals=sampled_counts(orders[:, :n_equal], indicator),
        samples=samples,
        n_equal=n_equal,
    )


def stated_value(
    measure: Measure, users: Sequence[str], shares: Floats, samples: Counts
) -> PromptValue:
    """The value of a measure of the mean probabilities of letters in one prompt.

    The mean of few users is less even than that of all; what this does to the value is corrected to first
    order (the jackknife of Quenouille 1956).

    Args:
        users: who gave the answers, empty texts without users.
        shares: of each answer, shape (answers, letters).
        samples: `third_samples` of the answers.
    """
    assert measure.statistic
    n, order = len(shares), np.arange(len(shares), dtype=np.int64)[None, :]
    moves = option_moves(measure.statistic, order, n, shares)
    value = float(measure.statistic(shares.sum(axis=0, keepdims=True))[0])
    value -= (n - 1) * float(moves.mean())
    if measure.bounds:
        low, high = measure.bounds(shares.shape[1])
        value = min(max(value, low), high)
    deviations = rest_deviations(measure.statistic, samples, shares)
    return PromptValue(value, moves - moves.mean(), users, deviations, is_stated=True)


def prompt_value(
    measure: Measure,
    users: Sequence[str],
    indicator: Counts,
    orders: Indices,
    totals: Counts,
    samples: Counts,
    n_equal: int,
) -> PromptValue:
    """The value of a measure of options in one prompt.

    Args:
        users: who gave the answers, empty texts without users.
        indicator: which answer names which option, shape (answers, options).
        orders: of the answers, as `random_orders` draws them.
        totals: how often each option is named in the subsamples of `n_equal` answers.
        samples: `third_samples` of the answers.
    """
    if measure.exact:
        size = EqualSize(indicator.sum(axis=0), len(indicator), n_equal)
        return PromptValue(measure.exact(size), np.zeros(len(indicator)), users)
    assert measure.statistic
    moves = option_moves(measure.statistic, orders, n_equal, indicator)
    return PromptValue(
        float(measure.statistic(totals).mean()),
        moves - moves.mean(),
        users,
        rest_deviations(measure.statistic, samples, indicator),
    )


class _Thirds:
    """Samples of a third of an arm's users, the same for all prompts, or else of a prompt's answers."""

    def __init__(self, arm: Arm, items: Mapping[str, OptionSample], seed: int) -> None:
        names = {user for sample in items.values() for user in sample.users}
        self._places = {user: place for place, user in enumerate(sorted(names - {""}))}
        self._random = generator(seed, "thirds", arm.model, arm.task, arm.condition)
        self._of_users = third_samples(len(self._places), self._random)

    def of(self, users: Sequence[str]) -> Counts:
        """Which answers are in each sample: 0 and 1 of shape (samples, answers)."""
        if not self._places:
            return third_samples(len(users), self._random)
        return self._of_users[:, [self._places[user] for user in users]]


def option_moves(
    statistic: Statistic, orders: Indices, n_equal: int, indicator: Mentions
) -> Floats:
    """How far a value moves without each answer: shape (answers,).

    Leaving an answer out of an order moves only the subsamples that hold it: the next in order comes
    in. The same orders serve all answers, so that the noise of subsampling cancels. Zeros of one
    answer, without which nothing is left.
    """
    moves = np.zeros(len(indicator))
    for order in orders if len(indicator) > 1 else ():
        subsample = indicator[order[:n_equal]]
        total = subsample.sum(axis=0, keepdims=True)
        successor = indicator[order[n_equal:]].sum(axis=0, keepdims=True)
        moves[order[:n_equal]] += statistic(total - subsample + successor) - statistic(total)
    moves /= len(orders)
    return moves


def rest_deviations(statistic: Statistic, samples: Counts, indicator: Mentions) -> Floats:
    """How a value varies over samples of a third of the answers, as `scale_deviations` has it.

    Args:
        samples: 0 and 1 of shape (samples, answers).
    """
    counts = samples @ indicator
    is_empty = counts.sum(axis=1) == 0
    values = np.zeros(len(counts))
    if not is_empty.all():
        values[~is_empty] = statistic(counts[~is_empty])
        values[is_empty] = values[~is_empty].mean()
    return scale_deviations(values, samples.shape[1])
