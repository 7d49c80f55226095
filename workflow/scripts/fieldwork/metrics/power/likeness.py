"""How alike a user's answers to different prompts are: measured in stored answers, or supposed.

Owns the correlation over prompts of what sets a user's answers apart. Of options that is how unusual an
answer is: how far the entropy of all users' answers to the prompt moves without it. Of points and numbers
it is the value. Each user's first answer to a prompt counts; reruns without a user are nobody's.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import AnswerSet, Arm, read_answer_sets
from fieldwork.estimates.prompts import option_moves
from fieldwork.estimates.samples import indicator_of
from fieldwork.metrics.components import cells_of
from fieldwork.metrics.values.samples import ValueAnswer, counted_values, read_values
from fieldwork.records.tasks import VALUE_KINDS, ItemKind
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.entropy import plug_in_bits

CAUTIOUS = 0.3
"""What is supposed without a pilot (docs/methods.md)."""

LEAST_USERS = 10
"""Users of a pilot from which the correlation is measured."""

_LEAST_ANSWERS = 3
_NOTHING = 1e-12


class Likeness(NamedTuple):
    """The correlation of a user's answers to two prompts, between 0 and 1.

    Attributes:
        estimate: what is supposed, or what stored answers show.
        error: standard error of what they show.
        n_users: whose answers show it.
        basis: where it is from, as the page says it.
    """

    estimate: float
    error: float = 0.0
    n_users: int = 0
    basis: str = ""

    @property
    def value(self) -> float:
        """One standard error above the estimate: half of all pilots are below what they estimate."""
        return min(1.0, max(0.0, self.estimate + self.error))


TaskLikeness = Mapping[tuple[str, ItemKind], Likeness]
"""By task and kind of question; those that cannot be measured are absent."""

NO_PILOT: TaskLikeness = {}


def measure_likeness(answers: pd.DataFrame) -> dict[tuple[str, ItemKind], Likeness]:
    """The correlation within users of each task and kind of question, over all models and conditions.

    With it the variance of the sum of a user's k deviations x is that of k independent ones, times
    1 + (k - 1) correlation. It is sum((sum x)^2 - sum x^2) / sum((k - 1) sum x^2) over users, the
    intra-class correlation of Fisher (1925), and its error is that of a ratio of sums. Tasks with fewer
    than `LEAST_USERS` users who answer two prompts are left out.
    """
    users: dict[tuple[str, ItemKind], dict[str, list[Floats]]] = {}
    for arm, deviations in _deviations(answers):
        by_user: dict[str, list[float]] = {}
        for user, value in (pair for prompt in deviations for pair in prompt.items()):
            by_user.setdefault(user, []).append(value)
        for user, values in by_user.items():
            if len(values) > 1:
                own_users = users.setdefault((arm.task, arm.kind), {})
                own_users.setdefault(user, []).append(_products(np.array(values)))
    estimates = {key: _correlation([*pairs.values()]) for key, pairs in sorted(users.items())}
    return {key: estimate for key, estimate in estimates.items() if estimate}


def measure_share_who(answers: pd.DataFrame) -> dict[str, float]:
    """The share of the variance of letters between users, by task, over all models and conditions.

    From probabilities that answers state, or from users who answered more than once: distances of two
    answers within a user and of two users, summed over arms, as in `variance`. Tasks without either, or
    with fewer than `LEAST_USERS` users, are left out.
    """
    sums: dict[str, Floats] = {}
    for arm, items in read_answer_sets(answers[answers["kind"] == "choice"]).items():
        cells = cells_of(items)
        if cells.has_puppets and len(cells.units) >= LEAST_USERS:
            rerun, two_cells = (float(part[0]) for part in cells.distances())
            if math.isfinite(rerun) and math.isfinite(two_cells):
                sums[arm.task] = sums.get(arm.task, np.zeros(2)) + np.array([rerun, two_cells])
    return {
        task: min(1.0, max(0.0, 1 - float(rerun / two_cells)))
        for task, (rerun, two_cells) in sums.items()
        if two_cells > _NOTHING
    }


def _products(values: Floats) -> Floats:
    """Sums over two different prompts of a user: of their product, and of what it were if equal."""
    squares = float(values @ values)
    return np.array([float(values.sum()) ** 2 - squares, (len(values) - 1) * squares])


def _correlation(users: list[list[Floats]]) -> Likeness | None:
    """Of users who each have a pair of sums for every model and condition."""
    n = len(users)
    if n < LEAST_USERS:
        return None
    of_two, of_one = np.array([np.sum(pairs, axis=0) for pairs in users]).T
    if not float(of_one.sum()) > _NOTHING:
        return None
    estimate = float(of_two.sum() / of_one.sum())
    rests = of_two - estimate * of_one
    error = math.sqrt(float(rests @ rests) * n / (n - 1)) / float(of_one.sum())
    return Likeness(estimate, error, n, f"measured in stored answers of {n:,} users")


def _deviations(answers: pd.DataFrame) -> Iterator[tuple[Arm, list[dict[str, float]]]]:
    """For each arm a prompt's deviations by user, prompt by prompt."""
    is_value = answers["kind"].isin(VALUE_KINDS)
    for arm, items in read_answer_sets(answers[~is_value]).items():
        yield arm, [_unusualness(item.first_answers()) for item in items.values()]
    for arm, of_arm in read_values(answers).items():
        yield arm, [_standard_values(counted_values(values)) for values in of_arm.values()]


def _unusualness(answers: Sequence[AnswerSet]) -> dict[str, float]:
    """How far the entropy moves without each user's answer, less the mean."""
    users = [answer for answer in answers if answer.puppet]
    n = len(users)
    if n < _LEAST_ANSWERS:
        return {}
    indicator = indicator_of([answer.options for answer in users])
    moves = option_moves(plug_in_bits, np.arange(n, dtype=np.int64)[None, :], n, indicator)
    return dict(zip([answer.puppet for answer in users], moves - moves.mean(), strict=True))


def _standard_values(answers: Sequence[ValueAnswer]) -> dict[str, float]:
    """Each user's value, less the mean, in standard deviations; none where all are alike."""
    users = [answer for answer in answers if answer.user and not answer.is_missing]
    values = np.array([answer.value for answer in users])
    if len(users) < _LEAST_ANSWERS or not float(np.ptp(values)) > _NOTHING:
        return {}
    deviations = (values - values.mean()) / values.std(ddof=1)
    return dict(zip([answer.user for answer in users], deviations.tolist(), strict=True))


def supposed_likeness(
    setting: float | None, pilot: TaskLikeness, task: str, kind: ItemKind
) -> Likeness:
    """The config's number; without one what a pilot shows, else a cautious one.

    Args:
        setting: `power.likeness`.
    """
    if setting is not None:
        return Likeness(float(setting), basis="`power.likeness`")
    cautious = Likeness(CAUTIOUS, basis="cautious, as no answers of users are stored")
    return pilot.get((task, kind), cautious)
