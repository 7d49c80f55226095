"""How probable each letter is as an answer, from the alternatives that a reply gives for its tokens."""

import math
from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.generation.providers.jsontext import as_list, as_map
from fieldwork.records.generation import OptionProbability

_AROUND = " \t\r\n()[]*.:\"'`▁Ġ"
"""What may stand around a letter in its token; two are tokenisers' signs for a space."""

_LEAST_LOGPROB = -700.0
"""Below it e to its power is 0; OpenAI writes -9999 for a token that is not among the likeliest."""

_MOST_LOGPROB = 0.01
"""Rounding may lift a log-probability a little above 0."""


class Alternative(NamedTuple):
    """A token that might have stood at a place, and its log-probability at temperature 1."""

    token: str
    logprob: float


class TokenPlace(NamedTuple):
    """A token of an answer, and what might have stood in its place."""

    token: str
    alternatives: Sequence[Alternative]


def read_alternatives(rows: object, logprob_name: str) -> list[Alternative]:
    """The alternatives that a reply lists, without those of another form or of no probability.

    Args:
        logprob_name: the field of the log-probability, which OpenAI and Google name differently.
    """
    alternatives = []
    for row in map(as_map, as_list(rows)):
        token, logprob = row.get("token"), row.get(logprob_name)
        if not isinstance(token, str) or not isinstance(logprob, int | float):
            continue
        # NaN fails every comparison, and whole numbers of any size can be compared
        if _LEAST_LOGPROB < logprob <= _MOST_LOGPROB:
            alternatives.append(Alternative(token, min(float(logprob), 0.0)))
    return alternatives


def at_temperature(
    probabilities: Sequence[OptionProbability], temperature: float | None
) -> list[OptionProbability]:
    """Probabilities of temperature 1 at another temperature T, None being 1.

    p^(1/T), and then in all 1: what else might have been answered is not known one by one.
    """
    if temperature in (None, 1):
        return list(probabilities)
    best = max(probabilities, key=lambda one: one.probability)
    if not temperature:
        return [OptionProbability(one.option, float(one is best)) for one in probabilities]
    weights = [(one.probability / best.probability) ** (1 / temperature) for one in probabilities]
    total = math.fsum(weights)
    return [
        OptionProbability(one.option, weight / total)
        for one, weight in zip(probabilities, weights, strict=True)
    ]


def letter_of(token: str) -> str | None:
    """The capital letter that a token is, whatever stands around it; None for any other token."""
    letter = token.strip(_AROUND)
    return letter if len(letter) == 1 and letter in ascii_uppercase else None


def letter_probabilities(places: Iterable[TokenPlace]) -> tuple[OptionProbability, ...] | None:
    """The probability of each letter where the answer begins; None where no token there is a letter.

    The answer begins with the first token that is more than spaces and brackets. Tokens that differ only
    in what stands around the letter count together.
    """
    for place in places:
        if not place.token.strip(_AROUND):
            continue
        shares: dict[str, float] = {}
        for token, logprob in place.alternatives:
            letter = letter_of(token)
            if letter is not None:
                shares[letter] = shares.get(letter, 0.0) + math.exp(logprob)
        return tuple(OptionProbability(*pair) for pair in sorted(shares.items())) or None
    return None
