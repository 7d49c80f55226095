"""Answers with an effect in them, and what the config of `power` says of such answers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from populations import LISTED, Floats, Ints, Zipf, draw_letters, draw_lists, named

OPTIONS, EXPONENT, HALF = 60, 1.5, 0.5
MANY, PARTS = 20_000, 8

Draw = Callable[[bool, tuple[int, int], np.random.Generator], Ints]
"""Answers of an arm, with its effect or without: shape (items, users, answers), lists on a last axis.

The second argument is users and answers of each.
"""


class Supposition(NamedTuple):
    """What the config of `power` says of answers."""

    name: str
    effects: Mapping[str, Any]
    supposed: Mapping[str, Any]


class Source(NamedTuple):
    """Answers of the effect's task, and what the config of `power` says of them."""

    name: str
    n_items: int
    is_list: bool
    draw: Draw
    effects: Mapping[str, Any]
    supposed: Mapping[str, Any]


def _settle(answers: Ints, n_settled: int) -> Ints:
    """The last prompts are answered alike by all."""
    if n_settled:
        answers[-n_settled:] = np.arange(LISTED) if answers.ndim > 3 else 0
    return answers


def two_letters(shares: Floats, n: int, random: np.random.Generator) -> Ints:
    """Letters A with these shares, else B: a new last axis of `n` answers."""
    others = np.zeros((*shares.shape, 2))
    return draw_letters(np.dstack([shares, 1 - shares, others]), n, random)


def moved_letter(n_items: int, settled: float, baseline: float, condition: float) -> Source:
    """A letter's share changes in the first of some prompts."""
    n_settled = min(round(settled * n_items), n_items - 1)

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        shares = np.full((n_items, size[0]), HALF)
        shares[0] = condition if has_effect else baseline
        return _settle(two_letters(shares, size[1], random), n_settled)

    name = f"{n_items} letters, {n_settled} settled, {baseline:.0%} to {condition:.0%}"
    effects = {"shares": [{"baseline": baseline, "condition": condition}]}
    return Source(name, n_items, False, draw, effects, {"settled_items": settled})


def moved_option(n_items: int, baseline: float, condition: float) -> Source:
    """An option's share changes in the first of some prompts for lists."""

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        weights = np.tile(Zipf(OPTIONS, EXPONENT).log_weights(), (n_items, *size, 1))
        share = condition if has_effect else baseline
        # the option is in the list, or it is not; 59 others are there for the rest
        weights[0, ..., 1:] = Zipf(OPTIONS - 1, EXPONENT).log_weights()
        weights[0, ..., 0] = np.where(random.random(size) < share, 1e3, -1e3)
        return draw_lists(weights, random)

    name = f"{n_items} lists, {baseline:.0%} to {condition:.0%}"
    effects = {"shares": [{"baseline": baseline, "condition": condition}]}
    return Source(name, n_items, True, draw, effects, {})


def own_letters(n_items: int, settled: float, share_who: float, odd: float) -> Source:
    """Users have letter shares of their own for each prompt; some users, or all."""
    n_settled = round(settled * n_items)

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        shares = np.full((n_items, size[0]), HALF)
        if has_effect:
            spread = HALF * (odd / share_who - 1)
            own = random.beta(spread, spread, size=shares.shape)
            shares = np.where(random.random(size[0]) < odd, own, shares)
        return _settle(two_letters(shares, size[1], random), n_settled)

    name = f"{n_items} letters, {n_settled} settled, share_who {share_who:g}{odd_name(odd)}"
    supposed = {"settled_items": settled, "odd_users": odd}
    return Source(name, n_items, False, draw, {"who": [share_who]}, supposed)


def own_lists(n_items: int, taste: float, odd: float) -> Source:
    """Users have tastes of their own for each prompt; `share_who` is read off many users."""
    weights = Zipf(OPTIONS, EXPONENT).log_weights()

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        is_odd = (random.random(size[0]) < odd) * has_effect
        own = taste * is_odd[:, None, None] * random.normal(size=(n_items, size[0], 1, OPTIONS))
        return draw_lists(np.broadcast_to(weights + own, (n_items, *size, OPTIONS)), random)

    share_who = share_who_of(draw)
    name = f"{n_items} lists, share_who {share_who:.3f}{odd_name(odd)}"
    return Source(name, n_items, True, draw, {"who": [share_who]}, {"odd_users": odd})


def share_who_of(draw: Draw) -> float:
    """Over many users and all prompts, in parts for the sake of memory."""
    random = np.random.default_rng(1)
    same, mentions, n_lists = 0, np.zeros(OPTIONS), 0
    for _ in range(PARTS):
        lists = draw(True, (MANY // 2, 2), random)
        same += int((lists[:, :, 0, :, None] == lists[:, :, 1, None, :]).sum())
        # every prompt has the same options
        mentions += named(lists.reshape(1, -1, LISTED), OPTIONS)[0]
        n_lists += lists[..., 0].size
    shares = mentions / n_lists
    return float(1 - (LISTED - 2 * same / n_lists) / (LISTED - (shares**2).sum()))


def varied_lists(n_items: int, exponent: float, odd: float) -> Source:
    """Users' options are less unequal; the rise of the entropy is read off many users."""
    likings = {e: Zipf(OPTIONS, e).log_weights() for e in (EXPONENT, exponent)}

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        is_odd = (random.random(size[0]) < odd) & has_effect
        weights = np.where(is_odd[:, None, None], likings[exponent], likings[EXPONENT])
        return draw_lists(np.broadcast_to(weights, (n_items, *size, OPTIONS)), random)

    random = np.random.default_rng(2)
    rise, flat = (
        entropy_of(draw(effect, (2 * MANY, 1), random)[:, :, 0]) for effect in (True, False)
    )
    name = f"{n_items} lists, {rise - flat:.3f} bits{odd_name(odd)}"
    return Source(name, n_items, True, draw, {"entropy": [rise - flat]}, {"odd_users": odd})


def entropy_of(lists: Ints) -> float:
    shares = named(lists.reshape(1, -1, LISTED), OPTIONS)[0] / lists.size
    return float(-(shares * np.log2(np.maximum(shares, 1e-12))).sum())


def odd_name(odd: float) -> str:
    return f", in {odd:.0%} of the users" if odd < 1 else ""


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
        common, single = (self._draw(s, random) for s in ((1, *shape[1:]), shape))
        both: Floats = np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * single
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
        likings = liking.draw((n_items, size[0], OPTIONS), random) * has_effect
        keys = np.broadcast_to((weights + likings)[:, :, None], (n_items, *size, OPTIONS))
        if has_effect and liking.is_firm:
            return np.argpartition(-keys, LISTED - 1, axis=-1)[..., :LISTED]
        return draw_lists(keys, random)

    random = np.random.default_rng(3)
    lists, flat = (draw(effect, (MANY, 1), random)[:, :, 0] for effect in (True, False))
    # the correlation of two prompts' mean -log share of the options that a user names: with many users,
    # that is how far the entropy moves without a user
    shares = named(lists.reshape(1, -1, LISTED), OPTIONS)[0] / lists[..., 0].size
    supposed = {"likeness": likeness_of(-np.log(np.maximum(shares, 1e-12))[lists].mean(axis=-1))}
    if measure == "share_who":
        share_who = share_who_of(draw)
        name = f"{n_items} lists, share_who {share_who:.3f}, {liking.name}"
        return Source(name, n_items, True, draw, {"who": [share_who]}, supposed)
    rise = entropy_of(lists) - entropy_of(flat)
    name = f"{n_items} lists, {rise:.3f} bits, {liking.name}"
    return Source(name, n_items, True, draw, {"entropy": [rise]}, supposed)


def likeness_of(values: Floats) -> float:
    """The mean correlation of two prompts, from values of shape (prompts, users)."""
    pairs = np.atleast_2d(np.corrcoef(values))[np.triu_indices(len(values), 1)]
    return max(0.0, float(pairs.mean()))


def liked_letters(n_items: int, liking: Liking) -> Source:
    """Users' shares of a letter, whose logits are the liking."""

    def draw(has_effect: bool, size: tuple[int, int], random: np.random.Generator) -> Ints:
        logits = liking.draw((n_items, size[0], 1), random)[..., 0] * has_effect
        return two_letters(1 / (1 + np.exp(-logits)), size[1], random)

    many = liking.draw((n_items, MANY, 1), np.random.default_rng(4))[..., 0]
    shares = 1 / (1 + np.exp(-many))
    share_who = float(shares.var() / (HALF * (1 - HALF)))
    supposed = {"likeness": share_who * likeness_of(shares)}
    name = f"{n_items} letters, share_who {share_who:.3f}, {liking.name}"
    return Source(name, n_items, False, draw, {"who": [share_who]}, supposed)
