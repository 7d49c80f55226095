"""Power where a user's answers to different prompts are alike: what is promised, and what is reached.

Sources draw likings: log weights of options, or the logit of a letter's share. `snakemake power` knows of
them no more than an effect and one correlation, and draws otherwise. Pilots measure that correlation.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from outcomes import Job, Outcome, outcome
from populations import LISTED, Floats, Ints, Zipf, draw_lists, list_table, named
from power_promises import PART, USERS, Promise, claims_of, line_of, promised
from power_sources import (
    EXPONENT,
    HALF,
    MANY,
    OPTIONS,
    Source,
    entropy_of,
    share_who_of,
    two_letters,
)

from fieldwork.metrics.power.likeness import measure_likeness


class Liking(NamedTuple):
    """What a user likes: part of it in all prompts, the rest in each prompt anew.

    Attributes:
        strength: standard deviation of a user's log weights, or of the logit of a share.
        shared: share of its variance that all prompts have in common.
        freedom: of Student's t, from which likings are drawn; 0 for normal ones.
        is_firm: whether a user who is asked again gives the same list.
    """

    strength: float
    shared: float
    freedom: int = 0
    is_firm: bool = False

    def draw(self, shape: tuple[int, int, int], random: np.random.Generator) -> Floats:
        """Of each prompt, user and option."""
        common = self._draw((1, *shape[1:]), random)
        own = self._draw(shape, random)
        both: Floats = np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own
        return self.strength * both

    def _draw(self, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
        if self.freedom:
            spread = float(np.sqrt(self.freedom / (self.freedom - 2)))
            return random.standard_t(self.freedom, size=shape) / spread
        return random.normal(size=shape)

    @property
    def name(self) -> str:
        """As the tables call it."""
        tails = f", heavy tails (t{self.freedom})" if self.freedom else ""
        return f"{self.shared:.0%} of a user's liking in all prompts{tails}"


def liked_lists(n_items: int, liking: Liking, measure: str) -> Source:
    """Lists of users who like other options; the effect and the likeness are read off many users."""
    weights = Zipf(OPTIONS, EXPONENT).log_weights()

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        own = liking.draw((n_items, size[0], OPTIONS), random) * has_effect
        keys = np.broadcast_to((weights + own)[:, :, None], (n_items, *size, OPTIONS))
        if has_effect and liking.is_firm:
            return np.argpartition(-keys, LISTED - 1, axis=-1)[..., :LISTED]
        return draw_lists(keys, random)

    random = np.random.default_rng(3)
    lists, flat = (draw(effect, (MANY, 1), random)[:, :, 0] for effect in (True, False))
    supposed = {"likeness": _likeness_of_lists(lists)}
    if measure == "share_who":
        share_who = share_who_of(draw)
        name = f"{n_items} lists, share_who {share_who:.3f}, {liking.name}"
        return Source(name, n_items, True, draw, {"who": [share_who]}, supposed)
    rise = entropy_of(lists) - entropy_of(flat)
    name = f"{n_items} lists, {rise:.3f} bits, {liking.name}"
    return Source(name, n_items, True, draw, {"entropy": [rise]}, supposed)


def _likeness_of_lists(lists: Ints) -> float:
    """The correlation of two prompts' mean -log share of the options that a user names.

    With many users, that is how far the entropy moves without a user.
    """
    shares = named(lists.reshape(1, -1, LISTED), OPTIONS)[0] / lists[..., 0].size
    rarity = -np.log(np.maximum(shares, 1e-12))[lists].mean(axis=-1)
    return likeness_of(rarity)


def likeness_of(values: Floats) -> float:
    """The mean correlation of two prompts, from values of shape (prompts, users)."""
    pairs = np.atleast_2d(np.corrcoef(values))[np.triu_indices(len(values), 1)]
    return max(0.0, float(pairs.mean()))


def liked_letters(n_items: int, liking: Liking) -> Source:
    """Users' shares of a letter, whose logits are the liking."""

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        logits = liking.draw((n_items, size[0], 1), random)[..., 0] * has_effect
        return two_letters(1 / (1 + np.exp(-logits)), size[1], random)

    random = np.random.default_rng(4)
    shares = 1 / (1 + np.exp(-liking.draw((n_items, MANY, 1), random)[..., 0]))
    share_who = float(shares.var() / (HALF * (1 - HALF)))
    supposed = {"likeness": share_who * likeness_of(shares)}
    name = f"{n_items} letters, share_who {share_who:.3f}, {liking.name}"
    return Source(name, n_items, False, draw, {"who": [share_who]}, supposed)


# ---- a pilot ------------------------------------------------------------------------------------------


def _pilot(liking: Liking, n_users: int, sets: int, seed: int) -> Iterator[Outcome]:
    """The likeness that pilots measure, and what `power` takes it for, one error above."""
    source, random = liked_lists(9, liking, "entropy_bits"), np.random.default_rng([seed, 18])
    pilots = [_measure_pilot(source, n_users, random) for _ in range(sets)]
    truth, size = float(source.supposed["likeness"]), f"{n_users} users"
    for name, estimates in (
        ("likeness of a pilot", [pilot.estimate for pilot in pilots]),
        ("likeness supposed after a pilot", [pilot.value for pilot in pilots]),
    ):
        yield outcome(PART, name, source.name, size, truth=truth, estimates=estimates)


def _measure_pilot(source: Source, n_users: int, random: np.random.Generator) -> Any:
    lists = source.draw(True, (n_users, 1), random)[None]
    frame = list_table(lists, condition=USERS[0], puppets=True)
    (pilot,) = measure_likeness(frame.assign(task="main", value=np.nan)).values()
    return pilot


# ---- promises ------------------------------------------------------------------------------------------


def _reach(liking: Liking, measure: str, sets: int, seed: int) -> Iterator[Outcome]:
    """The promise with the likeness in the config, that of the code before, and that without a pilot."""
    if measure == "entropy_bits":
        # each user is asked once, so that the likings have no other test
        source = liked_lists(9, liking, measure)
        promise = Promise(measure, source, 40, None, has_companion=False, answers=1)
    else:
        source = (
            liked_letters(10, liking) if measure == "letters" else liked_lists(9, liking, measure)
        )
        promise = Promise("share_who", source, 20, None, has_companion=False)
    claims = claims_of(promise, sets, seed)
    likeness = source.supposed["likeness"]
    suppositions = {"": likeness, "discarded: before, ": 0.0}
    if measure == "entropy_bits":
        suppositions["without a pilot, "] = None
    for name, supposed in suppositions.items():
        own = promise._replace(source=source._replace(supposed={"likeness": supposed}))
        estimator = f"{name}power of {promise.measure}"
        title = f"{source.name}, likeness {likeness:.2f}"
        yield line_of(estimator, claims, title, f"{promise.n_users} users", promised(own))


FIRM = tuple(
    Liking(1.82, shared, freedom, is_firm=True)
    for shared, freedom in ((0.0, 0), (0.5, 0), (1.0, 0), (0.5, 3))
)
LOOSE = tuple(Liking(0.5, shared, freedom) for shared, freedom in ((0.5, 0), (1.0, 0), (0.5, 3)))


def jobs() -> Iterator[Job]:
    """Users who are alike over prompts, and pilots of them."""
    for liking in FIRM:
        yield partial(_reach, liking, "entropy_bits")
    for liking in LOOSE:
        yield partial(_reach, liking, "share_who")
        yield partial(_reach, liking._replace(strength=1.4), "letters")
    for liking in FIRM:
        yield partial(_pilot, liking, 20)
