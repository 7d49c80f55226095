"""The tests of letters in simulated studies whose answers state probabilities.

Owns p-values of `shifts`, `comparisons`, `variance` and declared measures where a call states what its
letter was drawn from. A baseline that states the same twice is known; what is left of chance is which
users are asked.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from fieldwork.estimates.answer_sets import StatedShares
from fieldwork.estimates.declaration import Measure
from fieldwork.estimates.means import PromptValue, difference_of_means, mean_over
from fieldwork.estimates.prompts import stated_value
from fieldwork.estimates.stated import letter_differences, p_of_letters
from fieldwork.metrics.power.effects import LetterProbabilities, ProbabilitySource, Scenario
from fieldwork.metrics.power.lists import log_weights, varied_exponent
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, Simulation
from fieldwork.metrics.power.tests_of_arms import in_common, own_shares
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.delete_many import N_SAMPLES, third_samples


def stated_simulation(scenario: Scenario) -> Simulation:
    """The test of one letter, of the distance of all, or of who asks."""
    return partial(who_tests if scenario.measure == "share_who" else letter_tests, scenario)


def letter_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """The test of the moved letter, the other one as companion, or that of both letters.

    A user's probability is Beta with the correlation `share_who` around the mean of those who
    carry the effect, or of the others.
    """
    assert isinstance(scenario.source, ProbabilitySource)
    effect, correlation, odd = scenario.effect, scenario.source.share_who, scenario.odd_users
    shape, random = (studies.n_users,), studies.random
    odd_mean = min(1.0, max(0.0, (effect.size - (1 - odd) * effect.baseline) / odd))
    baseline = StatedShares(["", ""], [_two_letters(np.array([effect.baseline]))] * 2, np.zeros(2))
    names = [f"{k:05}" for k in range(studies.n_users)]
    for _ in range(studies.n_studies):
        shares = np.where(
            studies.odd_users(scenario, shape),
            own_shares(correlation, odd_mean, shape, random),
            own_shares(correlation, effect.baseline, shape, random),
        )
        calls = [_two_letters(shares[k : k + 1]) for k in range(len(names))]
        users = StatedShares(names, calls, np.zeros(len(names)))
        letters = letter_differences(users, baseline, studies.rarest_users)
        if scenario.measure == "distance":
            yield SimulatedTest(p_of_letters(letters))
            continue
        of_moved, of_other = (x.of_both.p_value if x.is_compared else None for x in letters)
        yield SimulatedTest(of_moved, 0.0, () if of_other is None else ((of_other, 0.0),))


def _two_letters(shares: Floats) -> Floats:
    """Calls of shape (calls, letters) from the probabilities of the first of two letters."""
    return np.column_stack([shares, 1 - shares])


def entropy_simulation(
    measure: Measure, scenario: Scenario, source: LetterProbabilities
) -> Simulation | None:
    """The test of a declared measure's mean over prompts; None where no letters are so varied."""
    # settled prompts take no part, so that the others must be so much more varied
    bits = scenario.effect.size * scenario.n_items / scenario.n_open
    exponent = varied_exponent(bits, source.letters, scenario.odd_users)
    return None if exponent is None else partial(entropy_tests, measure, exponent, source, scenario)


def entropy_tests(
    measure: Measure,
    exponent: float,
    source: LetterProbabilities,
    scenario: Scenario,
    studies: SimulatedStudies,
) -> Iterator[SimulatedTest]:
    """The test of each study, against a baseline that states its probabilities twice.

    A user's probabilities are Dirichlet with the correlation `share_who` around the mean of those who
    carry the effect, or of the others.

    Args:
        exponent: how unequal letters are to users who carry the effect.
    """
    n, random = studies.n_users, studies.random
    names = [f"{k:05}" for k in range(n)]
    other_mean, odd_mean = (
        letter_means(source.n_options, value) for value in (source.exponent, exponent)
    )
    known_prompt = _stated_prompt(measure, ["", ""], np.array([other_mean] * 2), random)
    baseline = mean_over([known_prompt] * scenario.n_open + _settled_prompts(["", ""], scenario))
    for _ in range(studies.n_studies):
        is_odd = studies.odd_users(scenario, (n, 1))
        means = np.where(is_odd, odd_mean, other_mean)
        shares = shares_by_prompt(means, source.share_who, scenario, random)
        prompts = [_stated_prompt(measure, names, of_prompt, random) for of_prompt in shares]
        users = mean_over(prompts + _settled_prompts(names, scenario))
        yield SimulatedTest(difference_of_means(users, baseline, studies.rarest_users).p_value)


def letter_means(n_options: int, exponent: float) -> Floats:
    """Mean probabilities of letters that weigh 1 / rank ** exponent."""
    weights = np.exp(log_weights(n_options, exponent))
    means: Floats = weights / weights.sum()
    return means


def shares_by_prompt(
    means: Floats, correlation: float, scenario: Scenario, random: np.random.Generator
) -> Iterator[Floats]:
    """Probabilities of each user in one prompt after another, in the shape of `means`.

    In some prompts a user states the same, as `Scenario.likeness` has it.
    """
    common_shares = own_probabilities(means, correlation, random)
    for _ in range(scenario.n_open):
        is_common = in_common(scenario.likeness, (len(means), 1), random)
        yield np.where(is_common, common_shares, own_probabilities(means, correlation, random))


def own_probabilities(means: Floats, correlation: float, random: np.random.Generator) -> Floats:
    """Dirichlet around means of shape (users, letters); of correlation 1 one letter is sure."""
    if correlation <= 0:
        return means
    if correlation >= 1:
        letters = (random.random((len(means), 1)) > means.cumsum(axis=1)).sum(axis=1)
        sure: Floats = np.eye(means.shape[1])[np.minimum(letters, means.shape[1] - 1)]
        return sure
    # the least number stands for one that is rounded to 0, so that a user has a likeliest letter
    weights = np.maximum(random.gamma(means * (1 / correlation - 1)), np.finfo(float).tiny)
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _stated_prompt(
    measure: Measure, names: list[str], shares: Floats, random: np.random.Generator
) -> PromptValue:
    return stated_value(measure, names, shares, third_samples(len(names), random))


def _settled_prompts(names: list[str], scenario: Scenario) -> list[PromptValue]:
    """Prompts that everybody is sure of."""
    n = len(names)
    prompt = PromptValue(0.0, np.zeros(n), names, np.zeros(N_SAMPLES), is_stated=True)
    return [prompt] * scenario.n_settled


def who_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """Whether contexts differ, which their probabilities say by themselves."""
    yield from [SimulatedTest(float(scenario.effect.size == 0))] * studies.n_studies
