"""Where a model's weights are, and what identifies them.

A model is a GGUF file (by path, the one that an installed package carries, or one that several packages
carry in parts), a folder in the form of transformers, or a repository of the hub at a commit. Its weights
are packed once into a folder under `resources/models/`, named by their hash and the version of the code,
written whole and then renamed.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.provenance import code_version, file_digest

MODELS = Path("resources/models")
"""Weights that were unpacked or downloaded. They can be deleted, and come back with the next run."""

HUB_FILES = ("*.json", "*.safetensors")
COPIED_AT_ONCE = 2**22
OPTIONAL_HUB_FILES = ("*.jinja", "*.model", "*.txt")


class ModelSource(NamedTuple):
    """Weights on this machine, or a repository that they come from.

    Attributes:
        setting: the setting that names them, for messages.
        path: a GGUF file or a folder; of a repository, the folder for its files; of parts, where they
            are put together.
        identity: distinguishes weights of the same name, by hash or commit.
        repo, revision: empty where the weights are on this machine.
        parts: files that make up the GGUF file in this order.
        sha256: of the whole file, where it comes in parts.
    """

    setting: str
    path: Path
    identity: str
    repo: str = ""
    revision: str = ""
    parts: tuple[Path, ...] = ()
    sha256: str = ""

    @property
    def packed_folder(self) -> Path:
        """The folder that the model is loaded from; each version of the code that packs has its own."""
        name = self.path.name if self.repo else self.identity.partition("@")[2]
        return MODELS / f"{name}-{code_version(Path(__file__).with_name('packing.py'))[:8]}"


def model_source(model: Mapping[str, Any]) -> ModelSource:
    """The weights that an entry of `models` names. Nothing is downloaded yet.

    Raises:
        StudyError: the entry names no weights or several, the file is not there, or it is another file.
    """
    names = [name for name in ("package", "parts", "path", "repo") if model.get(name)]
    if len(names) != 1:
        listing = " and ".join(names) or "none of them"
        raise StudyError(
            f"models.*: a local_chat model needs one of package, parts, path and repo, and this entry "
            f"has {listing}; keep one of them"
        )
    if names == ["repo"]:
        return _repository(model)
    if names == ["parts"]:
        return _in_parts(model)
    if names == ["package"]:
        setting = f"models.*.package: {model['package']}"
        path = _packaged_file(model["package"], "package", ".gguf")
    else:
        setting, path = f"models.*.path: {model['path']}", _local_path(model["path"])
    digest = _digest(path, path.stat().st_mtime_ns)
    if model.get("sha256") and digest != model["sha256"].lower():
        raise StudyError(
            f"{path}: its sha256 is {digest}, and models.*.sha256 is {model['sha256']}; bring the file "
            f"that the study names, or correct the setting"
        )
    return ModelSource(setting, path, f"{path.name}@{digest[:16]}")


def _repository(model: Mapping[str, Any]) -> ModelSource:
    repo, revision = model["repo"], model.get("revision")
    if not revision:
        raise StudyError(
            f"models.*.repo: {repo} has no revision; set models.*.revision to a commit of the "
            f"repository, so that every run has the same weights"
        )
    folder = MODELS / f"{repo.replace('/', '--')}@{revision[:16]}"
    return ModelSource(f"models.*.repo: {repo}", folder, f"{repo}@{revision}", repo, revision)


def _in_parts(model: Mapping[str, Any]) -> ModelSource:
    packages, sha256 = model["parts"], (model.get("sha256") or "").lower()
    if not sha256:
        raise StudyError(
            f"models.*.parts: the parts {packages[0]} to {packages[-1]} have no sha256; set "
            f"models.*.sha256 to that of the whole file, as any file could lie in a package"
        )
    parts = tuple(_packaged_file(package, "parts", ".bin") for package in packages)
    name = packages[0].rstrip("0123456789")
    return ModelSource(
        f"models.*.parts: {packages[0]} to {packages[-1]}",
        MODELS / f"{sha256[:16]}.gguf",
        f"{name}@{sha256[:16]}",
        parts=parts,
        sha256=sha256,
    )


def join_parts(source: ModelSource) -> None:
    """Put the parts of a model together, as the file `source.path`.

    Raises:
        StudyError: the whole is another file than the study names.
    """
    partial = source.path.with_name(f".{source.path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as whole:
            for part in source.parts:
                with part.open("rb") as handle:
                    shutil.copyfileobj(handle, whole, COPIED_AT_ONCE)
        digest = file_digest(partial)
        if digest != source.sha256:
            raise StudyError(
                f"{source.setting}: the sha256 of the parts together is {digest}, and models.*.sha256 is "
                f"{source.sha256}; install the versions that the study names, in their order"
            )
        partial.replace(source.path)
    finally:
        partial.unlink(missing_ok=True)


def _packaged_file(package: str, setting: str, suffix: str) -> Path:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError as error:
        way = "run make big-model" if setting == "parts" else "run make once more"
        raise StudyError(
            f"models.*.{setting}: the package {package} is not installed; {way}, or install it with: pip "
            f"install --no-deps {package}"
        ) from error
    paths = [Path(str(file.locate())) for file in files if file.suffix == suffix]
    paths = [path for path in paths if path.is_file()]
    if len(paths) != 1:
        raise StudyError(
            f"models.*.{setting}: the package {package} holds {len(paths)} {suffix} files instead of "
            f"one; set models.*.path to a GGUF file instead"
        )
    return paths[0]


def _local_path(name: str) -> Path:
    path = Path(name)
    if path.is_dir() and not (path / "config.json").is_file():
        raise StudyError(
            f"models.*.path: the folder {name} has no config.json, so it is not a model of "
            f"transformers; set it to such a folder or to a GGUF file"
        )
    if path.is_dir() or (path.is_file() and path.suffix == ".gguf"):
        return path
    problem = "is neither a folder nor a .gguf file" if path.exists() else "is not there"
    raise StudyError(
        f"models.*.path: {name} {problem}; set it to a GGUF file or to a folder with a model of "
        f"transformers"
    )


@cache
def _digest(path: Path, modified_ns: int) -> str:  # noqa: ARG001
    """sha256 of a file, or of the names and contents of a folder's files."""
    if path.is_file():
        return file_digest(path)
    total = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        total.update(f"{file.relative_to(path)}\0{file_digest(file)}\n".encode())
    return total.hexdigest()
