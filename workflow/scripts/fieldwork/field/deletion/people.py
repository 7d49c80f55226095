"""Who is to be forgotten: ids as a person writes them down, and the pseudonyms that stand for them.

Ids come from a file and not from the command line, which a shell keeps and Snakemake writes down.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from fieldwork.errors import StudyError
from fieldwork.field.columns import identity
from fieldwork.field.privacy import pseudonym, read_key
from fieldwork.files import texts

_SETTINGS = "provenance/config.yaml"


class Person(NamedTuple):
    """A participant to be forgotten: the id as it is compared, and its pseudonym under each key."""

    id: str
    pseudonyms: tuple[str, ...]


def read_ids(path: Path) -> dict[str, int]:
    """The ids in a file, one a line, with the number of the line; none where there is no file.

    Raises:
        StudyError: the file is no UTF-8 text.
    """
    if not path.exists():
        return {}
    lines = texts.read_text(path).removeprefix("\ufeff").splitlines()
    pairs = [(identity(line), number) for number, line in enumerate(lines, start=1)]
    return {id_: number for id_, number in reversed(pairs) if id_}


def read_keys(key_file: Path, studies: Iterable[Path]) -> list[bytes]:
    """The key of the configured field, and those that other studies of the folder name.

    Args:
        studies: folders of results, each of which may say with which settings it was made.
    """
    files = [key_file]
    for study in studies:
        file = _key_file(study / _SETTINGS)
        files += [file] if file is not None and file.exists() else []
    return list(dict.fromkeys(read_key(path) for path in dict.fromkeys(files)))


def _key_file(settings: Path) -> Path | None:
    if not settings.exists():
        return None
    try:
        field = yaml.safe_load(texts.read_text(settings))["field"]
        return None if field is None else Path(field["key_file"])
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise StudyError(
            f"{settings}: not a readable record of a study's settings; delete it, and run "
            f"`snakemake forget` again"
        ) from error


def people_of(ids: Sequence[str], keys: Sequence[bytes]) -> list[Person]:
    """The participants that ids name."""
    return [Person(id_, tuple(pseudonym(id_, key) for key in keys)) for id_ in ids]
