"""What stands for users and conversations of files in every table: keyed hashes of their ids.

Owns the key and the SQL. The key of a study is secret, as users of a log are few and known to whoever
has it; without the key nobody can tell which of them a pseudonym is. A corpus whose ids are public has a
key that everybody knows, so that everybody draws the same users from it.
"""

import re
from pathlib import Path

from fieldwork.privacy import PSEUDONYM_DIGITS, hmac_pads, pseudonym, read_key

USER, CONVERSATION = "u", "c"
"""What a pseudonym begins with."""
PUBLIC_KEY = b"public"
_PSEUDONYM = re.compile(rf"{USER}[0-9a-f]{{{PSEUDONYM_DIGITS}}}")


def user_key(key_file: str | None) -> bytes:
    """The key of users' pseudonyms: that of the study, or without a file the public one.

    Raises:
        StudyError: the file cannot be read or made.
    """
    return PUBLIC_KEY if key_file is None else read_key(Path(key_file), "study.key_file")


def pseudonym_macro(key: bytes) -> str:
    """SQL that makes `pseudonym(letter, id)`: HMAC (RFC 2104) in DuckDB's functions, NULL for NULL."""
    inner, outer = (f"unhex('{pad.hex()}')" for pad in hmac_pads(key))
    normal_id = "encode(trim(nfc_normalize(id::VARCHAR)))"
    digest = f"sha256({outer} || unhex(sha256({inner} || {normal_id})))"
    return f"CREATE MACRO pseudonym(letter, id) AS letter || {digest}[:{PSEUDONYM_DIGITS}]"


def user_pseudonym(name: str, key: bytes) -> str:
    """The pseudonym of a user whom a file beside the corpus names, or who has one there already."""
    return name if _PSEUDONYM.fullmatch(name.strip()) else pseudonym(name, key, USER)
