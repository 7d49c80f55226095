"""What keeps participants private: pseudonyms for their ids, and masks over what they give away.

Owns the key file, the keyed hash of a participant's id, and the patterns of personal data in texts.
Promises that nothing is masked twice, that equal texts are masked alike, and that time is linear in
the text. Patterns find what has a form; docs/field.md says what they cannot find. They leave years,
prices, dates, model numbers and brands alone: a bare domain such as Booking.com is a brand, one with a
path or a person's own subdomain is a link; a number is a telephone number by its punctuation, or by the
word before it.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError, first_line
from fieldwork.given_names import Span, given_names

NAME = "[name]"

KEY_BYTES = 32
"""Length of a new key: the block of SHA-256's output, beyond which a key adds nothing (RFC 2104)."""
LEAST_KEY_BYTES = 16
_HASH_BLOCK = 64
"""Bytes of a block of SHA-256."""
PSEUDONYM_DIGITS = 16
"""Hex digits of a pseudonym: 64 bits. Two of 1,000 participants share one with chance 3e-14."""


def read_key(path: Path, setting: str = "field.key_file") -> bytes:
    """The key of the pseudonyms, made at random and readable by its owner only where there is none.

    Args:
        setting: the one that names the file, for messages.

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
            f"{path}: {setting} cannot be read or made ({first_line(error)}); name a file that "
            "you may write, or put back the key that was there."
        ) from error
    if os.name == "posix" and mode & stat.S_IRWXO:
        raise StudyError(
            f"{path}: everyone on this machine may read the key of {setting}; "
            f"`chmod 600 {path}` keeps it to yourself."
        )
    return _key_of_text(key_text, path, setting)


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp's file is its owner's alone; the link is whole, and fails where another job was first
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_bytes(KEY_BYTES).hex() + "\n")
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()


def _key_of_text(key_text: str, path: Path, setting: str) -> bytes:
    try:
        key = bytes.fromhex(key_text)
    except ValueError:
        key = b""
    if len(key) < LEAST_KEY_BYTES:
        raise StudyError(
            f"{path}: {setting} must hold {2 * LEAST_KEY_BYTES} hexadecimal digits or more; "
            "put back the key that was there, or delete the file to get a new key and new pseudonyms."
        )
    return key


def pseudonym(name: str, key: bytes, letter: str = "p") -> str:
    """HMAC-SHA256 of a person's id (RFC 2104), its first 64 bits in hex after a letter.

    Keyed, as ids of a panel are known to the panel and few enough to hash one by one: without the key
    a plain hash would name everyone. Blanks around the id and its Unicode form do not count.
    """
    normal_id = unicodedata.normalize("NFC", name).strip()
    digest = hmac.new(key, normal_id.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{letter}{digest[:PSEUDONYM_DIGITS]}"


def hmac_pads(key: bytes) -> tuple[bytes, bytes]:
    """What HMAC-SHA256 puts before the text and before its digest, for code that hashes in SQL."""
    block = (hashlib.sha256(key).digest() if len(key) > _HASH_BLOCK else key).ljust(
        _HASH_BLOCK, b"\0"
    )
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


# ---- masks ---------------------------------------------------------------------------------------

EMAIL = "[e-mail]"
LINK = "[link]"
TELEPHONE = "[telephone]"
ID = "[id]"


def is_personal_id(text: str) -> bool:
    """Whether an id has the form of a person's: it holds an e-mail address or an id of a panel."""
    return any(pattern.search(text) for pattern in (_EMAIL, _PANEL_IDS))


class MaskedText(NamedTuple):
    """A text with its personal data masked, and in how many places."""

    text: str
    n_masked: int


_TLD = (
    r"(?:com|org|net|edu|gov|mil|int|info|biz|io|ai|app|dev|me|co|tv|ly|gg|fm|so|xyz|site|online|page"
    r"|blog|shop|store|tech|cloud|link|live|news|world|life|club|us|uk|ca|au|nz|ie|de|at|ch|fr|es|it"
    r"|pt|nl|be|se|no|dk|fi|pl|cz|ru|ua|gr|tr|in|jp|cn|kr|br|mx|ar|za|eu)"
)
_LABEL = r"[\w](?:[\w-]{0,61}\w)?"
_HOST = rf"(?:{_LABEL}\.){{1,5}}{_TLD}\b(?!\.?\w)"
_REST = r"[^\s<>\[\]\"“”|`]{0,2000}"
_TAIL = r"(?<![.,;:!?'’)*_…])"
"""A link does not end in the punctuation of the sentence it stands in."""

_EMAIL = re.compile(
    r"(?:mailto:)?[\w.+%'’-]{1,64}@(?:[\w-]{1,63}\.){1,5}[\w-]{2,63}\b"
    r"|\b[\w.+-]{1,64}\s?[\[({]\s?at\s?[\])}]\s?[\w-]{1,63}(?:\s?(?:[\[({]\s?dot\s?[\])}]|\.)\s?[\w-]{2,63}){1,4}",
    re.IGNORECASE,
)
_LINKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:https?|ftp)://{_REST}{_TAIL}",
        rf"\bwww\d?\.\w{_REST}{_TAIL}",
        rf"(?<![\w@.-])(?!(?:asp|vb|ado)\.net\b){_HOST}(?::\d{{2,5}})?[/?#][\w%~@/?#]{_REST}{_TAIL}",
        # a third label is somebody's page on a site, save for the likes of amazon.co.uk
        rf"(?<![\w@.-])(?:{_LABEL}\.){{1,4}}(?!(?:co|com|org|net|ac|gov|edu)\.)[\w-]{{2,63}}\.{_TLD}\b(?![\w.]\w)",
    )
)

_NO_DIGIT_BEFORE = r"(?<![\w.$€£#/+-])(?<!\d[ ,])"
_NO_DIGIT_AFTER = r"(?![\w%/]|[.,-]\d)"
_GAP = r"[ \t\u00a0./·‐‑‒–-]"
_EXTENSION = r"(?:[ \t,;]{0,3}(?:x|ext\.?|extension)[ \t.:]{0,2}\d{1,6})?"
_CUE = (
    r"(?:tel(?:ephone)?|phone|cell(?:phone)?|mobile|fax|whatsapp|call(?: me)?(?: at| on)?"
    r"|text(?: me)?(?: at)?|(?:reach|contact) me(?: at| on)?|my number(?: is)?|number(?: is|:))"
)
_TELEPHONES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # international: a plus and 8 to 15 digits in groups (E.164)
        rf"(?<![\w+])\+{_GAP}?(?:\(?\d{{1,4}}\)?{_GAP}{{0,2}}){{2,6}}\d{{2,5}}{_EXTENSION}(?!\d)",
        rf"{_NO_DIGIT_BEFORE}00[1-9]\d{{0,2}}{_GAP}(?:\(?\d{{1,4}}\)?{_GAP}?){{2,5}}\d{{2,5}}{_EXTENSION}{_NO_DIGIT_AFTER}",
        # North America: area code and exchange begin with 2 to 9
        rf"{_NO_DIGIT_BEFORE}(?:1{_GAP}?)?(?:\([2-9]\d{{2}}\){_GAP}{{0,2}}|[2-9]\d{{2}}{_GAP}{{1,2}})"
        rf"[2-9]\d{{2}}{_GAP}{{1,2}}\d{{4}}{_EXTENSION}{_NO_DIGIT_AFTER}",
        rf"{_NO_DIGIT_BEFORE}1?[2-9]\d{{2}}[2-9]\d{{6}}{_EXTENSION}{_NO_DIGIT_AFTER}",
        # elsewhere: a trunk zero and nine digits or more
        rf"{_NO_DIGIT_BEFORE}0[1-9]\d{{8,9}}{_EXTENSION}{_NO_DIGIT_AFTER}",
        rf"{_NO_DIGIT_BEFORE}\(?0\d{{2,4}}\)?{_GAP}\d{{3,4}}{_GAP}?\d{{3,4}}{_EXTENSION}{_NO_DIGIT_AFTER}",
        rf"\b{_CUE}[ \t]{{0,3}}[:#]?[ \t]{{0,3}}"
        rf"(?P<number>\(?\d{{2,4}}\)?(?:{_GAP}{{1,2}}\(?\d{{2,4}}\)?){{1,5}}|\d{{7,15}}){_EXTENSION}(?!\d)",
    )
)
_PANEL_IDS = re.compile(r"\b(?:[0-9a-f]{24}|A(?=[A-Z]*\d[0-9A-Z]*\d)[0-9A-Z]{12,14})\b")
"""Ids as Prolific (24 hexadecimal digits) and Mechanical Turk (A and 12 to 14 more) give them."""
_YEARS = re.compile(r"\D*(?:1[89]|20)\d\d\D{1,3}(?:1[89]|20)\d\d\D*")
_LEAST_DIGITS, _MOST_DIGITS = 7, 15
_LEAST_ID = 6
"""Characters of a participant's id below which it may well be a number or a word of the answer."""


def without_personal_data(text: str, *, participant: str | None) -> MaskedText:
    """The text with what has a form of its own replaced; names are none of it.

    `participant` is the id of who wrote the text, masked where it has a digit and six characters.
    """
    n_masked = 0
    for pattern, token in _patterns(participant):
        text, n_found = pattern.subn(token, text)
        n_masked += n_found
    for pattern in _TELEPHONES:
        group = "number" if "number" in pattern.groupindex else 0
        matches = [m for m in pattern.finditer(text) if _is_telephone(m[group])]
        text = _with_token(text, [Span(m.start(group), m.end()) for m in matches], TELEPHONE)
        n_masked += len(matches)
    return MaskedText(text, n_masked)


def _with_token(text: str, spans: Sequence[Span], token: str) -> str:
    """The text with a token for each of some spans, which are in order."""
    starts, ends = [0, *(s.end for s in spans)], [*(s.start for s in spans), len(text)]
    return token.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _patterns(participant: str | None) -> Iterator[tuple[re.Pattern[str], str]]:
    id_text = (participant or "").strip()
    if len(id_text) >= _LEAST_ID and any(character.isdigit() for character in id_text):
        yield re.compile(rf"(?<!\w){re.escape(id_text)}(?!\w)", re.IGNORECASE), ID
    yield _EMAIL, EMAIL
    for link in _LINKS:
        yield link, LINK
    yield _PANEL_IDS, ID


def _is_telephone(number_text: str) -> bool:
    number = re.split(r"[xe]", number_text, maxsplit=1, flags=re.IGNORECASE)[0]
    digits = "".join(character for character in number if character.isdigit())
    if not _LEAST_DIGITS <= len(digits) <= _MOST_DIGITS or digits.endswith("000000"):
        return False
    return _YEARS.fullmatch(number) is None


def mask(text: str, *, participant: str | None = None) -> MaskedText:
    """The text with `[e-mail]`, `[link]`, `[telephone]`, `[id]` and `[name]` where these stood.

    `participant` is the id of who wrote it, which is masked as well; names are masked
    where the text gives them as such (`given_names`). A masked text is masked no further.
    """
    masked_text, n_masked = without_personal_data(text, participant=participant)
    names = given_names(masked_text)
    return MaskedText(_with_token(masked_text, names, NAME), n_masked + len(names))
