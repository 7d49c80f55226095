"""The chance that users give a letter that reruns never gave, where all probabilities are known."""

import numpy as np

from fieldwork.statistics.arrays import Floats

MOST_LETTERS = 12
"""Of an item: `new_letter_chance` has a term for each of their 2 to that power sets."""


def new_letter_chance(users: Floats, baseline: Floats, n_baseline: int, n_equal: int) -> float:
    """Chance that `n_equal` of the users, each once, give a letter that `n_baseline` reruns never gave.

    Sums over the sets of letters that the reruns may give: the chance of the set (inclusion and exclusion
    over its subsets) times the mean chance, over all choices of users, that all their letters are in it.

    Args:
        users: probabilities, shape (users, letters).
        baseline: probabilities, shape (letters,).
    """
    n_letters = len(baseline)
    sets = (np.arange(2**n_letters)[:, None] >> np.arange(n_letters) & 1).astype(np.float64)
    set_chances = (sets @ baseline) ** n_baseline
    # of "all reruns within the set" to "the reruns give exactly the set": Möbius over one letter a time
    for letter in range(n_letters):
        has = sets[:, letter] == 1
        subsets = np.flatnonzero(has) - (1 << letter)
        set_chances[has] -= set_chances[subsets]
    staying = _mean_product(sets @ users.T, n_equal)
    return float(1 - (set_chances * staying).sum() / set_chances.sum())


def _mean_product(chances: Floats, size: int) -> Floats:
    """Mean product of `size` of the users' chances, over all choices: (sets, users) to (sets,).

    The elementary symmetric polynomial over the number of choices, kept as a mean from user to user, so
    that no number grows.
    """
    n_users = chances.shape[1]
    means = np.zeros((len(chances), size + 1))
    means[:, 0] = 1.0
    for user in range(n_users):
        for k in range(min(size, user + 1), 0, -1):
            # of the choices of k among user + 1, k / (user + 1) hold the new one
            share = k / (user + 1)
            means[:, k] = (1 - share) * means[:, k] + share * means[:, k - 1] * chances[:, user]
    result: Floats = means[:, size]
    return result


def new_answer_chances(users: Floats, baseline: Floats, n_baseline: int) -> Floats:
    """The chance that each user's answer is a letter that `n_baseline` reruns never give: shape (users,).

    Args:
        users: probabilities, shape (users, letters).
        baseline: probabilities, shape (letters,).
    """
    chances: Floats = users @ (1 - baseline) ** n_baseline
    return chances
