"""Probabilities of letters from the alternatives that OpenAI's and Google's interfaces give."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from provider_cases import SAMPLING, item, make_gemini, make_openai

from fieldwork.generation.providers.gemini import Gemini
from fieldwork.generation.providers.letters import (
    Alternative,
    TokenPlace,
    at_temperature,
    letter_probabilities,
)
from fieldwork.records.generation import OptionProbability
from fieldwork.records.tasks import Item


def place(**shares: float) -> TokenPlace:
    """A place whose chosen token is the first; `_` stands for a space before a letter."""
    alternatives = [Alternative(t.replace("_", " "), math.log(p)) for t, p in shares.items()]
    return TokenPlace(alternatives[0].token, alternatives)


def shares_of(probabilities: Sequence[OptionProbability]) -> dict[str, float]:
    return {one.option: one.probability for one in probabilities}


def test_a_letter_counts_with_whatever_stands_around_it() -> None:
    tokens = {"A": 0.4, " A": 0.1, "(B": 0.2, "**B": 0.1, "The": 0.15, "AB": 0.02, "a": 0.03}
    alternatives = [Alternative(token, math.log(p)) for token, p in tokens.items()]
    read = letter_probabilities([TokenPlace("A", alternatives)])
    assert read is not None
    assert shares_of(read) == pytest.approx({"A": 0.5, "B": 0.3})


def test_the_answer_begins_after_spaces_and_brackets() -> None:
    blank = TokenPlace("\n(", [Alternative("\n(", 0.0), Alternative("C", -5.0)])
    read = letter_probabilities([blank, place(A=0.9, B=0.1)])
    assert read is not None
    assert shares_of(read) == pytest.approx({"A": 0.9, "B": 0.1})


@pytest.mark.parametrize("places", [[], [place(The=1.0)], [TokenPlace(" ", [])]])
def test_without_a_letter_there_is_nothing(places: list[TokenPlace]) -> None:
    assert letter_probabilities(places) is None


def test_a_token_without_any_probability_is_no_alternative() -> None:
    """OpenAI writes -9999 for a token that is not among the likeliest."""
    rows = [{"token": "B", "logprob": -9999.0}]
    nothing = openai_reply({"content": [{"token": "B", "top_logprobs": rows}]})
    assert make_openai().read(nothing).option_probabilities is None


def test_temperature_sharpens_what_was_stated_at_1() -> None:
    shares = {"A": 0.5, "B": 0.25, "C": 0.05}
    stated = [OptionProbability(option, share) for option, share in shares.items()]
    assert at_temperature(stated, 1) == at_temperature(stated, None) == stated
    assert shares_of(at_temperature(stated, 0)) == {"A": 1.0, "B": 0.0, "C": 0.0}
    halves = shares_of(at_temperature(stated, 0.5))
    assert sum(halves.values()) == pytest.approx(1)
    assert halves["A"] / halves["B"] == pytest.approx(4)


def openai_reply(logprobs: Any) -> bytes:
    choice = {"message": {"content": "B"}, "finish_reason": "stop", "logprobs": logprobs}
    return json.dumps({"model": "gpt-test", "choices": [choice]}).encode()


def gemini_reply(result: Any) -> bytes:
    candidate = {"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}
    body = {"modelVersion": "gemini-x", "candidates": [{**candidate, "logprobsResult": result}]}
    return json.dumps(body).encode()


def gemini(**settings: Any) -> Gemini:
    return make_gemini(None, **settings)


TOP = [{"token": "B", "logprob": math.log(0.7)}, {"token": " A", "logprob": math.log(0.25)}]
SHARES = {"A": 0.25, "B": 0.7}


def test_both_interfaces_are_read() -> None:
    openai = openai_reply({"content": [{"token": "B", "top_logprobs": TOP}]})
    google = [{"token": t["token"], "logProbability": t["logprob"]} for t in TOP]
    result = {"chosenCandidates": [{"token": "B"}], "topCandidates": [{"candidates": google}]}
    for reply in (make_openai().read(openai), gemini().read(gemini_reply(result))):
        assert shares_of(reply.option_probabilities or ()) == pytest.approx(SHARES)
        assert not reply.is_tempered


@pytest.mark.parametrize(
    "odd",
    [None, 7, [], {}, {"content": None}, {"content": [None, 3]}, {"content": [{"token": 5}]},
     {"content": [{"token": "B", "top_logprobs": [{"token": "B", "logprob": "x"}, 4]}]},
     {"content": [{"token": "B", "top_logprobs": [{"token": "B", "logprob": 10**400}]}]},
     {"content": [{"token": "B", "top_logprobs": [{"token": "B", "logprob": float("nan")}]}]},
     {"chosenCandidates": [4], "topCandidates": [{"candidates": [5]}]},
     {"chosenCandidates": [{"token": "B"}],
      "topCandidates": [{"candidates": [{"token": "B", "logProbability": 10**400}]}]}],
)  # fmt: skip
def test_an_odd_form_costs_no_answer(odd: Any) -> None:
    for reply in (make_openai().read(openai_reply(odd)), gemini().read(gemini_reply(odd))):
        assert (reply.text, reply.outcome, reply.option_probabilities) == ("B", "ok", None)


def test_alternatives_are_asked_for_beside_letters_alone() -> None:
    lists = Item("q", "list", "Which?", "Which?", [], None, None, "test")
    for provider, parts in (
        (make_openai(top_logprobs=20), (b'"logprobs":true', b'"top_logprobs":20')),
        (gemini(top_logprobs=20), (b'"responseLogprobs":true', b'"logprobs":20')),
    ):
        question = provider.question(item(), SAMPLING)
        assert all(part in question for part in parts)
        assert b"logprobs" not in provider.question(lists, SAMPLING)
    assert b"logprobs" not in make_openai().question(item(), SAMPLING)
