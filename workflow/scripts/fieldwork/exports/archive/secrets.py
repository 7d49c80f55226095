"""Keys and passwords looked for in files that are to be given away.

Owns what counts as one: secrets of the environment by value, and the keys of pseudonyms. It looks into
everything that `files.text_search` looks into.
"""

from collections.abc import Iterable
from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.files.text_search import Mark, Matcher, Search
from fieldwork.masking import environment_secrets

SHORTEST = 12
"""Characters of a secret that stands in no file by chance."""


def secret_marks(key_files: Iterable[str]) -> Matcher:
    """What looks for the secrets of the environment, and for the keys in these files."""
    keys = [
        Path(file).read_bytes().decode("utf-8", "replace").strip()
        for file in key_files
        if Path(file).is_file()
    ]
    secrets = [*environment_secrets(), *keys]
    return Matcher(Mark(secret) for secret in secrets if len(secret) >= SHORTEST)


def refuse_secrets(outcome: Search, folder: Path) -> None:
    """Refuse files that hold a secret, or that could not be looked into.

    Raises:
        StudyError: naming the first of them.
    """
    for path in outcome.holders:
        raise StudyError(
            f"{path.relative_to(folder)}: a key or a password that is set in the environment, or a key "
            f"of pseudonyms, stands in this file, so nothing was packed; take it out where it comes "
            f"from, and change that key"
        )
    for path, reason in outcome.obstacles.items():
        raise StudyError(
            f"{path.relative_to(folder)}: {reason}, so that keys cannot be looked for, and nothing was "
            f"packed; replace the file, or leave it out of the study"
        )
