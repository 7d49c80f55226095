"""Answers of a tiny model with random weights: form, probabilities, and what an answer depends on."""

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_chat import WINDOW, TinyModel, answers_of

from fieldwork.generation.chat import answering, passes
from fieldwork.generation.chat.answering import ChatAnswer
from fieldwork.generation.chat.attention import Segment
from fieldwork.generation.chat.grammars import candidate_paths
from fieldwork.generation.chat.tokens import ConversationError

NAMES = ["Bob", "Bob Cut", "Bob Cut Long", "Café au lait", "Zoë"]
NAMES += ["日本", "1984", "2. Bob", "Mr. T."]
HISTORY = [["user", "Hi"], ["assistant", "Hello"]]


CALL = {"context": [], "prompt": "Recommend five haircuts.", "form": "candidates"}
CALL |= {"options": NAMES, "length": 5, "temperature": 1.0, "min_p": 0.0}
CALL |= {"max_tokens": 200, "seed": 0}


def call(**changes: Any) -> bytes:
    return json.dumps(CALL | changes).encode()


def named(answer: ChatAnswer) -> list[str]:
    return [line.partition(". ")[2] for line in answer.text.split("\n")]


def the_answer(model: TinyModel, **changes: Any) -> ChatAnswer:
    (answer,) = model.answer(call(**changes))
    assert isinstance(answer, ChatAnswer)
    return answer


def shares_of(model: TinyModel, **changes: Any) -> dict[str, float]:
    return dict(the_answer(model, **changes).probabilities or [])


def logits_after(model: TinyModel, ids: list[int]) -> Any:
    """Logits of the next token, from the whole text read at once and alone."""
    transformer = model.transformer
    slots = transformer.slots.take(len(ids))
    states = transformer.read([Segment(ids, transformer.new_context(0), 0, (), slots)])
    transformer.slots.give_back(slots)
    return transformer.logits(states, None)[-1].double().numpy()


def softmax(values: Any) -> Any:
    parts = np.exp(values - np.max(values))
    return parts / parts.sum()


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
WORDS = st.text(CHARACTERS, min_size=1, max_size=12).filter(lambda text: text.strip() != "")
GROWING = st.lists(WORDS, min_size=1, max_size=4).map(
    lambda words: [" ".join(words[:n]) for n in range(1, len(words) + 1)]
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(WORDS, max_size=5), GROWING, st.integers(0, 99), st.sampled_from([0.0, 1.0]))
def test_a_list_names_candidates_and_none_twice(
    model: TinyModel, names: list[str], family: list[str], seed: int, temperature: float
) -> None:
    options = [*names, *family]
    spellings = {" ".join(option.split()) for option in options} - {""}
    changes = {"options": options, "seed": seed, "temperature": temperature}
    answer = the_answer(model, **changes, max_tokens=400)
    assert answer.finish_reason == "stop"
    lines = answer.text.split("\n")
    assert len(lines) == min(5, len(spellings))
    items = [line.removeprefix(f"{n}. ") for n, line in enumerate(lines, start=1)]
    assert set(items) <= spellings
    assert len(set(items)) == len(items)
    shares = dict(answer.probabilities or [])
    assert shares.keys() == spellings
    assert sum(shares.values()) == pytest.approx(1, abs=1e-6)


def test_the_best_answer_is_the_best_at_every_step(model: TinyModel) -> None:
    answer = the_answer(model, temperature=0.0)
    candidates = candidate_paths(model.tokens, NAMES, 5)
    ids = model.tokens.prompt_ids([("user", "Recommend five haircuts.")])
    paths, items = dict(candidates.paths), []
    stops = sorted(model.tokens.stops)
    for line in range(5):
        ids += candidates.heads[line]
        live, depth = list(paths), 0
        while depth < len(live[0]):
            logits = logits_after(model, ids)
            scores = {path[depth]: logits[path[depth]] for path in live}
            for path in live:
                if line == 4 and len(path) == depth + 1:
                    # the last line may end with the turn
                    scores[path[depth]] = np.logaddexp.reduce([logits[path[depth]], *logits[stops]])
            best = max(sorted(scores), key=lambda token: scores[token])
            live = [path for path in live if path[depth] == best]
            ids.append(best)
            depth += 1
        items.append(paths.pop(live[0]))
    assert named(answer) == items


def test_draws_follow_the_probabilities(model: TinyModel) -> None:
    n = 600
    answers = model.answer(*(call(seed=seed, length=1) for seed in range(n)))
    counts = {name: sum(named(answer) == [name] for answer in answers) for name in NAMES}
    for name, share in answers[0].probabilities or []:
        spread = 4.5 * np.sqrt(share * (1 - share) / n) + 1 / n
        assert counts[name] / n == pytest.approx(share, abs=spread)


def test_min_p_leaves_out_unlikely_tokens(model: TinyModel) -> None:
    plain = shares_of(model, min_p=0.0, temperature=0.3)
    cut = shares_of(model, min_p=0.5, temperature=0.3)
    assert min(plain.values()) > 0
    assert min(cut.values()) == 0
    assert max(cut, key=cut.__getitem__) == max(plain, key=plain.__getitem__)
    assert shares_of(model, min_p=1.0) == pytest.approx(shares_of(model, temperature=0.0))


def test_an_answer_is_cut_at_its_limit_of_tokens(model: TinyModel) -> None:
    whole, answer = (
        the_answer(model, temperature=0.0),
        the_answer(model, temperature=0.0, max_tokens=7),
    )
    assert (answer.finish_reason, answer.output) == ("length", 7)
    assert whole.text.startswith(answer.text.removesuffix("�"))


def test_five_lines_are_five_lines(model: TinyModel) -> None:
    answer = the_answer(model, form="five_lines", max_tokens=450)
    lines = answer.text.split("\n")
    if answer.finish_reason == "stop":
        assert len(lines) == 5
    for n, line in enumerate(lines, start=1):
        assert line.startswith(f"{n}.")
    assert all(line.partition(".")[2].strip() for line in lines[:-1])


OPTIONS = ["Jupiter", "Mars", "The Lord of the Rings", "Zoë"]


def rates_by_hand(model: TinyModel, messages: list[tuple[str, str]]) -> Any:
    """Log-likelihoods of the options per byte, a forward pass for each token."""
    prompt, rates = model.tokens.prompt_ids(messages), []
    for option in OPTIONS:
        tokens = [token for token, _ in model.tokens.pieces(f" {option}")]
        parts = [
            np.log(softmax(logits_after(model, [*prompt, *tokens[:i]])))[token]
            for i, token in enumerate(tokens)
        ]
        rates.append(sum(parts) / len(option.encode()))
    return np.array(rates)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_a_choice_is_drawn_by_the_likelihood_per_byte(model: TinyModel, temperature: float) -> None:
    wanted = {"form": "likelihood", "options": OPTIONS, "context": HISTORY, "prompt": "Which?"}
    answer = the_answer(model, **wanted, temperature=temperature)
    rates = rates_by_hand(model, [("user", "Hi"), ("assistant", "Hello"), ("user", "Which?")])
    length = np.mean([len(option.encode()) for option in OPTIONS])
    expected = dict(zip("ABCD", softmax(rates * length / temperature), strict=True))
    assert dict(answer.probabilities or []) == pytest.approx(expected, rel=1e-3)
    assert answer.text in "ABCD"


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_a_written_letter_states_how_probable_each_was(
    model: TinyModel, temperature: float
) -> None:
    wanted = {"form": "none", "prompt": "A, B or C?", "max_tokens": 3, "letters": 3}
    stated = shares_of(model, **wanted, temperature=temperature)
    logits = logits_after(model, model.tokens.prompt_ids([("user", "A, B or C?")]))
    best = np.where(np.arange(len(logits)) == np.argmax(logits), 0.0, -np.inf)
    shares = softmax(logits / temperature if temperature else best)
    texts = [text.strip(" ()[]*.:\"'`\n\t\r") for text in model.tokens.texts()]
    expected = {
        letter: sum(share for share, text in zip(shares, texts, strict=True) if text == letter)
        for letter in "ABC"
    }
    assert stated == pytest.approx(expected, rel=1e-3)


def calls() -> list[bytes]:
    forms: list[dict[str, Any]] = [
        {"form": "candidates"},
        {"form": "five_lines", "max_tokens": 30},
        {"form": "none", "max_tokens": 9},
        {"form": "none", "max_tokens": 9, "letters": 4},
        {"form": "likelihood", "options": OPTIONS},
        {"form": "candidates", "temperature": 0.0},
    ]
    contexts = [[], HISTORY, [["system", "You talk to Zoë."]], [["user", "x " * 40]]]
    return [
        call(**form, context=context, prompt=prompt, seed=seed)
        for form in forms
        for context in contexts
        for seed, prompt in enumerate(("Which one?", "Recommend five haircuts."))
    ]


def test_an_answer_depends_on_its_call_alone(
    model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not on what stands beside it in a pass, came before, is in memory, or how passes are cut."""
    in_order = calls()
    together = dict(zip(in_order, model.answer(*in_order), strict=True))
    shuffled_calls = random.Random(1).sample(in_order, len(in_order))
    for one in shuffled_calls[: len(in_order) // 4]:
        assert model.answer(one) == [together[one]]
    monkeypatch.setattr(passes, "TOKENS_AT_ONCE", 5)
    monkeypatch.setattr(passes, "CONTEXT_BYTES", 0)
    monkeypatch.setattr(answering, "BYTES_UNDER_WAY", 40 * model.transformer.shape.bytes_per_token)
    responder = model.responder()
    for part in (shuffled_calls[:10], shuffled_calls[10:]):
        assert answers_of(responder, *part) == [together[one] for one in part]


def test_tokens_are_counted(model: TinyModel) -> None:
    answer = the_answer(model, context=HISTORY)
    whole = model.tokens.prompt_ids([("user", "Hi"), ("assistant", "Hello"), ("user", "So?")])
    own = model.tokens.prompt_ids([*map(tuple, HISTORY), ("user", "Recommend five haircuts.")])  # type: ignore[list-item]
    shared = next(i for i, (a, b) in enumerate(zip(whole, own, strict=False)) if a != b)
    assert (answer.input, answer.cache_read) == (len(own), shared)
    assert answer.output == len(model.tokens.pieces(answer.text + "\n"))


def test_a_conversation_longer_than_the_window_is_refused(model: TinyModel) -> None:
    long = [["user", "日" * WINDOW]]
    refused = [call(context=long, form=form) for form in ("candidates", "none", "likelihood")]
    *errors, answer = model.answer(*refused, call(max_tokens=WINDOW), call())
    for error in errors:
        assert isinstance(error, ConversationError)
        assert "window of 512 tokens" in str(error)
    assert "max_tokens" in str(errors[-1])
    assert isinstance(answer, ChatAnswer)
