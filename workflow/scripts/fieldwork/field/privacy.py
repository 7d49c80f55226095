"""What keeps participants private: pseudonyms for their ids, and masks over what they give away.

Owns the key file, the keyed hash of a participant's id, and the patterns of personal data in texts.
Promises that nothing is masked twice, that equal texts are masked alike, and that time is linear in
the text. Patterns find what has a form; docs/field.md says what they cannot find.
"""

import hashlib
import hmac
import os
import secrets
import stat
import unicodedata
from pathlib import Path

from fieldwork.errors import StudyError, first_line
from fieldwork.field.given_names import given_names
from fieldwork.field.personal_data import MaskedText, without_personal_data

NAME = "[name]"

KEY_BYTES = 32
"""Length of a new key: the block of SHA-256's output, beyond which a key adds nothing (RFC 2104)."""
LEAST_KEY_BYTES = 16
PSEUDONYM_DIGITS = 16
"""Hex digits of a pseudonym: 64 bits. Two of 1,000 participants share one with chance 3e-14."""


def read_key(path: Path) -> bytes:
    """The key of the pseudonyms, made at random and readable by its owner only where there is none.

    Raises:
        StudyError: the file cannot be made or read, holds no key, or everyone may read it.
    """
    try:
        if not path.exists():
            _make_key(path)
        key_text = path.read_text(encoding="ascii").strip()
        mode = stat.S_IMODE(path.stat().st_mode)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"{path}: field.key_file cannot be read or made ({first_line(error)}); name a file that "
            "you may write, or put back the key that was there."
        ) from error
    if os.name == "posix" and mode & stat.S_IRWXO:
        raise StudyError(
            f"{path}: everyone on this machine may read the key of field.key_file; "
            f"`chmod 600 {path}` keeps it to yourself."
        )
    return _key_of_text(key_text, path)


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # O_EXCL and the mode in one call: the key is never there for others to read, not for a moment
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_bytes(KEY_BYTES).hex() + "\n")


def _key_of_text(key_text: str, path: Path) -> bytes:
    try:
        key = bytes.fromhex(key_text)
    except ValueError:
        key = b""
    if len(key) < LEAST_KEY_BYTES:
        raise StudyError(
            f"{path}: field.key_file must hold {2 * LEAST_KEY_BYTES} hexadecimal digits or more; "
            "put back the key that was there, or delete the file to get a new key and new pseudonyms."
        )
    return key


def pseudonym(participant: str, key: bytes) -> str:
    """HMAC-SHA256 of the id (RFC 2104), its first 64 bits in hex after a `p`.

    Keyed, as ids of a panel are known to the panel and few enough to hash one by one: without the key
    a plain hash would name everyone. Blanks around the id and its Unicode form do not count.
    """
    normal_id = unicodedata.normalize("NFC", participant).strip()
    digest = hmac.new(key, normal_id.encode("utf-8"), hashlib.sha256).hexdigest()
    return f"p{digest[:PSEUDONYM_DIGITS]}"


def mask(text: str, *, participant: str | None = None) -> MaskedText:
    """The text with `[e-mail]`, `[link]`, `[telephone]`, `[id]` and `[name]` where these stood.

    `participant` is the id of who wrote it, which is masked as well (`personal_data`); names are masked
    where the text gives them as such (`given_names`). A masked text is masked no further.
    """
    masked_text = without_personal_data(text, participant=participant)
    parts: list[str] = []
    start = 0
    names = given_names(masked_text.text)
    for span in names:
        parts.extend((masked_text.text[start : span.start], NAME))
        start = span.end
    return MaskedText(
        "".join((*parts, masked_text.text[start:])), masked_text.n_masked + len(names)
    )
