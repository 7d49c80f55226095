"""The embedded model: the same call gives the same answer, and what should move answers does."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fieldwork.encoder import Encoder, EncoderSettings, Vectors
from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Sampling, Wire
from fieldwork.generation.providers.embedded import EmbeddedModel, EmbeddedSettings
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item, ItemKind

SETTINGS = EmbeddedSettings(sharpness=3.0, context_weight=0.3)
AXES = {
    "question": [1.0, 0.0, 0.0, 0.0],
    "north": [0.8, 0.6, 0.0, 0.0],
    "east": [0.6, 0.0, 0.8, 0.0],
    "south": [0.28, 0.0, 0.0, 0.96],
    "west": [0.0, 0.6, 0.8, 0.0],
    "as good as north": [0.8, -0.6, 0.0, 0.0],
    "likes east": [0.0, 0.0, 1.0, 0.0],
    "likes south": [0.0, 0.0, 0.0, 1.0],
    "likes nothing": [0.0, 0.0, 0.0, 0.0],
}
EAST, SOUTH = Message("user", "likes east"), Message("user", "likes south")


class Compass(Encoder):
    """Fixed vectors; a text that is none of them is a bug of the test."""

    def __init__(self) -> None:
        self.settings = EncoderSettings("compass")

    def encode(self, texts: Sequence[str], label: str = "") -> Vectors:  # noqa: ARG002
        return np.array([AXES[text] for text in texts], np.float32)


def make(encoder: Encoder | None = None, **changes: Any) -> EmbeddedModel:
    return EmbeddedModel(encoder or Compass(), SETTINGS._replace(**changes), "code")


def item(*choices: str, kind: ItemKind = "choice") -> Item:
    return Item("q", kind, "question", "the prompt", list(choices), None, None, "test")


def four(kind: ItemKind = "choice") -> Item:
    return item("north", "east", "south", "west", kind=kind)


def raw(
    asked: Item,
    context: Sequence[Message] = (),
    *,
    temperature: float = 0.0,
    seed: int = 0,
    provider: EmbeddedModel | None = None,
) -> dict[str, Any]:
    provider = provider or make()
    question = provider.question(asked, Sampling(temperature, 16, seed))
    wire = Wire(provider.prefix(context), question, provider.delivery("c"))
    exchange = asyncio.run(provider.send(wire.body()))
    assert (exchange.started_at, exchange.latency_s) == (None, None)
    decoded: dict[str, Any] = json.loads(exchange.raw)
    assert provider.read(exchange.raw).text == decoded["text"]
    return decoded


def many(asked: Item, n: int, temperature: float = 1.0) -> list[dict[str, Any]]:
    return [raw(asked, temperature=temperature, seed=seed) for seed in range(n)]


NORTH = [0.8, 0.6, 0.28, 0.0]
MOVED = [0.73532, 0.86663, 0.25736, 0.31513]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ([], NORTH),
        ([EAST], MOVED),
        ([Message("system", "likes east")], MOVED),
        # several count by their mean
        ([EAST, SOUTH], [0.73532, 0.77432, 0.52476, 0.22283]),
        ([Message("assistant", "likes east")], NORTH),
        ([Message("user", " \n")], NORTH),
        ([Message("user", "likes nothing")], NORTH),
    ],
)
def test_scores_are_cosines_that_a_users_messages_move(
    context: list[Message], expected: list[float]
) -> None:
    assert raw(four(), context)["scores"] == pytest.approx(expected, abs=1.1e-5)


GOOD = "as good as north"
SIX = ["west", GOOD, "south", "east", "north", "likes east"]


@pytest.mark.parametrize(
    ("choices", "kind", "expected"),
    [
        (["south", "east", "north"], "choice", "C"),
        (["south", "north", GOOD], "choice", "B"),
        (["west", "south", "east", "north"], "list", "1. north\n2. east\n3. south\n4. west"),
        (SIX, "list", "1. as good as north\n2. north\n3. east\n4. south\n5. west"),
    ],
)
def test_temperature_0_takes_the_best_and_of_equals_the_first(
    choices: list[str], kind: ItemKind, expected: str
) -> None:
    assert {a["text"] for a in many(item(*choices, kind=kind), 5, 0.0)} == {expected}


# the seeds are fixed, yet a changed wire format draws anew: rare enough not to fail for that, while a
# wrong distribution comes out below 1e-10
BY_CHANCE = 1e-4


def softmax(scores: Sequence[float], sharpness: float) -> Vectors:
    weights = np.exp(sharpness * np.array(scores))
    normal: Vectors = weights / weights.sum()
    return normal


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_letters_come_as_often_as_softmax_says(temperature: float) -> None:
    n = 1_000
    answers = many(four(), n, temperature)
    counts = Counter(answer["text"] for answer in answers)
    expected = n * softmax(answers[0]["scores"], SETTINGS.sharpness / temperature)
    assert stats.chisquare([counts[letter] for letter in "ABCD"], expected).pvalue > BY_CHANCE


def test_lists_are_drawn_without_replacement() -> None:
    n = 1_000
    answers = many(item("north", "east", "south", kind="list"), n)
    p = softmax(answers[0]["scores"], SETTINGS.sharpness)
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    expected = [n * p[a] * p[b] / (1 - p[a]) for a, b, _ in orders]
    counts = Counter(tuple(answer["chosen"]) for answer in answers)
    assert stats.chisquare([counts[order] for order in orders], expected).pvalue > BY_CHANCE


def test_an_item_without_candidates_is_the_users_to_mend() -> None:
    with pytest.raises(StudyError, match=r"'q' has no candidate answers.*candidates file"):
        make().question(item(kind="list"), Sampling(1.0, 16, 0))


def test_the_settings_are_part_of_the_call() -> None:
    models = [make(), make(sharpness=4.0), make(context_weight=0.2)]
    assert len({model.question(four(), Sampling(1.0, 16, 0)) for model in models}) == 3


# the answers of this model before its calls were made of parts, which a study must keep
@pytest.mark.parametrize(
    ("context", "kind", "drawn"),
    [
        ([], "choice", "BABABABAABAA"),
        ([EAST, Message("assistant", "likes\n, ")], "choice", "ADBBCBADDBDC"),
        ([SOUTH], "list", "SWNNNENNWENE"),
    ],
)
def test_the_same_call_gives_the_same_answer_as_ever(
    context: list[Message], kind: ItemKind, drawn: str
) -> None:
    found = [raw(four(kind), context, temperature=1.0, seed=seed)["text"] for seed in range(12)]
    assert "".join(text.removeprefix("1. ")[0].upper() for text in found) == drawn


def test_the_packaged_encoder_answers_and_a_context_moves_it(tmp_path: Any) -> None:
    provider = make(Encoder(EncoderSettings(), tmp_path / "store.sqlite"))
    question = "Which animal barks and guards the house?"
    choices = ["a tax form", "a dog", "a violin", "a glacier"]
    animal = Item("animal", "choice", question, question, choices, "B", None, "test")
    text = "I practise the violin and play in a string quartet every evening."
    blank = raw(animal, provider=provider)
    assert blank["text"] == "B"
    moved = raw(animal, [Message("user", text)], provider=provider)
    assert moved["scores"][2] > blank["scores"][2] + 0.05
    assert raw(animal, [Message("assistant", text)], provider=provider) == blank
