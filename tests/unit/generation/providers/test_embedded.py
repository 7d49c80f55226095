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


class Compass(Encoder):
    """Fixed vectors; a text that is none of them is a bug of the test."""

    def __init__(self) -> None:
        self.settings = EncoderSettings("compass")
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], label: str = "") -> Vectors:  # noqa: ARG002
        self.encoded += texts
        return np.array([AXES[text] for text in texts], np.float32)


def make(encoder: Encoder | None = None, **changes: Any) -> EmbeddedModel:
    return EmbeddedModel(encoder or Compass(), SETTINGS._replace(**changes), "code")


def item(*choices: str, kind: ItemKind = "choice") -> Item:
    return Item("q", kind, "question", "the prompt", list(choices), None, None, "test")


FOUR = item("north", "east", "south", "west")


def body_of(
    provider: EmbeddedModel, asked: Item, context: Sequence[Message], sampling: Sampling
) -> bytes:
    prefix, question = provider.prefix(context), provider.question(asked, sampling)
    return Wire(prefix, question, provider.delivery("c")).body()


def raw(
    provider: EmbeddedModel,
    asked: Item = FOUR,
    context: Sequence[Message] = (),
    *,
    temperature: float | None = 0.0,
    seed: int = 0,
) -> dict[str, Any]:
    body = body_of(provider, asked, context, Sampling(temperature, 16, seed))
    exchange = asyncio.run(provider.send(body))
    assert (exchange.started_at, exchange.latency_s) == (None, None)
    assert provider.read(exchange.raw).text == json.loads(exchange.raw)["text"]
    decoded: dict[str, Any] = json.loads(exchange.raw)
    return decoded


def many(provider: EmbeddedModel, asked: Item, n: int, temperature: float) -> list[dict[str, Any]]:
    return [raw(provider, asked, temperature=temperature, seed=seed) for seed in range(n)]


# --- scores --------------------------------------------------------------------------------------


NORTH = [0.8, 0.6, 0.28, 0.0]
MOVED = [0.73532, 0.86663, 0.25736, 0.31513]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ([], NORTH),
        ([Message("user", "likes east")], MOVED),
        ([Message("system", "likes east")], MOVED),
        # several count by their mean
        (
            [Message("user", "likes east"), Message("user", "likes south")],
            [0.73532, 0.77432, 0.52476, 0.22283],
        ),
        ([Message("assistant", "likes east")], NORTH),
        ([Message("user", " \n")], NORTH),
        ([Message("user", "likes nothing")], NORTH),
    ],
)
def test_scores_are_cosines_that_a_users_messages_move(
    context: list[Message], expected: list[float]
) -> None:
    assert raw(make(), context=context)["scores"] == pytest.approx(expected, abs=1.1e-5)


# --- temperature 0 -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "kind", "expected"),
    [
        (["south", "east", "north"], "choice", "C"),
        (["south", "north", "as good as north"], "choice", "B"),
        (["west", "south", "east", "north"], "list", "1. north\n2. east\n3. south\n4. west"),
        (
            ["west", "as good as north", "south", "east", "north", "likes east"],
            "list",
            "1. as good as north\n2. north\n3. east\n4. south\n5. west",
        ),
    ],
)
def test_temperature_0_takes_the_best_and_of_equals_the_first(
    choices: list[str], kind: ItemKind, expected: str
) -> None:
    found = {raw(make(), item(*choices, kind=kind), seed=seed)["text"] for seed in range(5)}
    assert found == {expected}


# --- sampling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["choice", "list"])
def test_the_same_call_gives_the_same_answer(kind: ItemKind) -> None:
    asked = item("north", "east", "south", "west", kind=kind)
    first = [raw(make(), asked, temperature=1.0, seed=seed) for seed in range(20)]
    assert first == [raw(make(), asked, temperature=1.0, seed=seed) for seed in range(20)]


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
    answers = many(make(), FOUR, n, temperature)
    counts = Counter(answer["text"] for answer in answers)
    expected = n * softmax(answers[0]["scores"], SETTINGS.sharpness / temperature)
    assert stats.chisquare([counts[letter] for letter in "ABCD"], expected).pvalue > BY_CHANCE


def test_lists_are_drawn_without_replacement() -> None:
    asked = item("north", "east", "south", kind="list")
    n = 1_000
    answers = many(make(), asked, n, 1.0)
    p = softmax(answers[0]["scores"], SETTINGS.sharpness)
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    expected = [n * p[a] * p[b] / (1 - p[a]) for a, b, _ in orders]
    counts = Counter(tuple(answer["chosen"]) for answer in answers)
    assert stats.chisquare([counts[order] for order in orders], expected).pvalue > BY_CHANCE


# --- the call ------------------------------------------------------------------------------------


def test_an_item_without_candidates_is_the_users_to_mend() -> None:
    with pytest.raises(StudyError, match=r"'q' has no candidate answers.*candidates file"):
        make().question(item(kind="list"), Sampling(1.0, 16, 0))


def test_the_settings_are_part_of_the_call() -> None:
    sampling = Sampling(1.0, 16, 0)
    models = [make(), make(sharpness=4.0), make(context_weight=0.2)]
    assert len({model.question(FOUR, sampling) for model in models}) == 3


# the answers of this model before its calls were made of parts, which a study must keep
DRAWN = [
    ([], "choice", "BABABABAABAA"),
    ([Message("user", "likes east"), Message("assistant", "likes\n, ")], "choice", "ADBBCBADDBDC"),
    ([Message("user", "likes south")], "list", "SWNNNENNWENE"),
]


@pytest.mark.parametrize(("context", "kind", "drawn"), DRAWN)
def test_the_draws_do_not_move_with_the_wire(
    context: list[Message], kind: ItemKind, drawn: str
) -> None:
    asked = item("north", "east", "south", "west", kind=kind)
    found = [raw(make(), asked, context, temperature=1.0, seed=seed)["text"] for seed in range(12)]
    assert "".join(text.removeprefix("1. ")[0].upper() for text in found) == drawn


# --- with the packaged encoder -------------------------------------------------------------------

ANIMAL = Item(
    "animal",
    "choice",
    "Which animal barks and guards the house?",
    "Which animal barks and guards the house?",
    ["a tax form", "a dog", "a violin", "a glacier"],
    "B",
    None,
    "written for this test",
)


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(EncoderSettings(), tmp_path_factory.mktemp("vectors") / "store.sqlite")


def test_the_packaged_encoder_answers_and_a_context_moves_it(minilm: Encoder) -> None:
    provider = make(minilm)
    blank = raw(provider, ANIMAL)
    music = [Message("user", "I practise the violin and play in a string quartet every evening.")]
    moved = raw(provider, ANIMAL, music)
    assert blank["text"] == "B"
    assert moved["scores"][2] > blank["scores"][2] + 0.05
    assert raw(provider, ANIMAL, [Message("assistant", music[0].content)]) == blank
