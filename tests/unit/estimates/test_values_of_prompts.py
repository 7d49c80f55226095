"""Values at equal n and what each answer moves, against plain enumeration; formulas that fail."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import Arm, Options
from fieldwork.estimates.declaration import Measure, Statistic
from fieldwork.estimates.means import PromptValue, mean_over
from fieldwork.estimates.prompts import option_moves, prompt_values
from fieldwork.estimates.samples import OptionSample, indicator_of
from fieldwork.measures.lists import QUESTION, rest_share
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import plug_in_bits

LISTS: list[Options] = [tuple(names) for names in ("abc", "ab", "ad", "efgh", "a", "bei", "cdj")]
ARM = Arm("m", "t", None, "c")
ENTROPY = QUESTION.names["entropy_bits"]


def sample(lists: Sequence[Options] = LISTS, *, users: bool = True) -> OptionSample:
    names = [f"p{k}" if users else "" for k in range(len(lists))]
    return OptionSample(list(lists), names, 0)


def value_of(lists: Sequence[Options], n_equal: int, arm: Arm = ARM, seed: int = 1) -> PromptValue:
    sizes = {(*arm.family, "i"): n_equal}
    return prompt_values(arm, {"i": sample(lists)}, [ENTROPY], sizes, seed)["entropy_bits"]["i"]


def mean_over_subsets(statistic: Statistic, indicator: Counts, size: int) -> float:
    rows = itertools.combinations(range(len(indicator)), size)
    return float(np.mean([statistic(indicator[[*own]].sum(axis=0)[None])[0] for own in rows]))


@pytest.mark.parametrize("statistic", [plug_in_bits, rest_share])
@pytest.mark.parametrize("size", [1, 3, 6, 7])
def test_leaving_an_answer_out_moves_the_value_to_that_of_the_others(
    statistic: Statistic, size: int
) -> None:
    """Over all orders of the answers exactly, where the study takes some of them."""
    indicator, n = indicator_of(LISTS), len(LISTS)
    orders = np.array([*itertools.permutations(range(n), min(size + 1, n))])
    moves = option_moves(statistic, orders, size, indicator)
    whole = mean_over_subsets(statistic, indicator, size)
    rest = [
        mean_over_subsets(statistic, np.delete(indicator, k, axis=0), min(size, n - 1))
        for k in range(n)
    ]
    assert moves == pytest.approx(np.array(rest) - whole, abs=1e-12)


def test_samples_of_a_third_vary_as_the_value_does() -> None:
    """Two crowds with nothing in common: leaving out one answer says next to nothing of the error."""
    lists = [tuple("abcde")] * 41 + [tuple("fghij")] * 39
    mean = mean_over([value_of(lists, 80)])
    assert mean.value == pytest.approx(np.log2(10), abs=0.001)
    interval = mean.interval(0.125)
    assert interval is not None
    assert interval.high - interval.low > 0.05


def test_a_formula_that_fails_is_named_with_its_prompt_and_arm() -> None:
    def fails(_: Counts) -> Floats:
        raise ZeroDivisionError("nothing to divide by\nsecond line")

    measure = Measure(name="odd_one", title="", meaning="", statistic=fails)
    with pytest.raises(StudyError) as error:
        prompt_values(ARM, {"films": sample()}, [measure], {("m", "t", "films"): 7}, 1)
    assert str(error.value) == (
        "the measure odd_one cannot be computed of the answers to films (m, t, c): nothing to divide by; "
        "correct its formula in workflow/scripts/fieldwork/measures"
    )
