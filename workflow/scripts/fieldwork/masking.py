"""Secrets kept out of everything that is written: known secrets by value, others by form.

Owns the text that replaces a secret, and the rules by which a header, an address or a variable of the
environment holds one. A secret is masked in every form in which a server may repeat it: as it is, escaped
as in JSON, and escaped as in an address.
"""

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote, urlsplit

from fieldwork.errors import StudyError

MASK_TEXT = "***masked***"

SHORTEST_IN_A_REPLY = 8
"""Characters; a shorter value is a placeholder for a key, and may be a word of an answer."""

_WORDS = frozenset(
    ("auth", "authorization", "key", "apikey", "token", "secret", "cookie", "password", "passwd")
)
_NAMES = ("key", "apikey", "token", "secret", "password", "passwd")
# the forms of OpenAI and similar providers, Google, Google's OAuth, Groq, Hugging Face, GitHub, xAI and
# JWT; each key contains a digit
_KEY = re.compile(
    r"\b(?:sk-(?=[\w-]*\d)[\w-]{16,}|AIza(?=[\w-]*\d)[\w-]{30,}|ya29\.(?=[\w-]*\d)[\w.-]{16,}"
    r"|(?:gsk_|hf_|gh[opsu]_|xai-)(?=[a-zA-Z]*\d)[a-zA-Z0-9]{16,}|github_pat_\w{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)"
    r"|(?<=Bearer )(?=[\w.~+/-]*\d)[\w.~+/-]{16,}"
)


class Mask:
    """Replaces secrets in texts; secrets can be added at any time."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._all = self._long = _SecretForms(())
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these from now on; empty strings are ignored."""
        new = {secret for secret in secrets if secret} - self._secrets
        if new:
            self._secrets |= new
            self._all = _SecretForms(self._secrets)
            self._long = _SecretForms(s for s in self._secrets if len(s) >= SHORTEST_IN_A_REPLY)

    def text(self, text: str) -> str:
        """A message without secrets."""
        return self._all.mask(text.encode("utf-8", "surrogatepass")).decode(
            "utf-8", "surrogatepass"
        )

    def line(self, text: str) -> str:
        """A message without secrets and line breaks."""
        return " ".join(self.text(text).split())

    def raw(self, raw: bytes) -> bytes:
        """Bytes without secrets."""
        return self._all.mask(raw)

    def reply(self, raw: bytes) -> bytes:
        """The bytes of a reply, without secrets that are too long to occur in it by chance."""
        return self._long.mask(raw)


class _SecretForms:
    """Secrets in every form in which they may be written, as bytes."""

    def __init__(self, secrets: Iterable[str]) -> None:
        texts = sorted(secrets, key=len, reverse=True)
        forms = {form.encode() for secret in texts for form in _forms(secret)}
        # the longest first, because one secret may be part of another
        self._forms = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._forms)))
        self._coded_pattern = re.compile("|".join(map(_coded_form, texts)).encode())

    def mask(self, raw: bytes) -> bytes:
        # usually there is none, and searching for each is a hundred times faster than the pattern
        if any(form in raw for form in self._forms):
            raw = self._pattern.sub(MASK_TEXT.encode(), raw)
        if self._forms and _CODE.search(raw):
            raw = self._coded_pattern.sub(MASK_TEXT.encode(), raw)
        return raw


def _forms(secret: str) -> Iterable[str]:
    """A secret as it is, in an address, in JSON, and in JSON inside JSON, as servers repeat it."""
    in_json = _in_json(secret)
    in_nested_json = [form for form in in_json for form in _in_json(form)]
    return (secret, quote(secret, safe=""), quote(secret), *in_json, *in_nested_json)


_CODE = re.compile(rb"\\u00[2-7]")
"""A printable ASCII character by its code, as some writers of JSON put `+`, `=`, `<` or any."""


def _coded_form(secret: str) -> str:
    """A pattern of a secret in JSON, of which any character may be given by its code."""
    return "".join(rf"(?:\\*{re.escape(letter)}|\\+(?i:u{ord(letter):04x}))" for letter in secret)


def _in_json(text: str) -> tuple[str, ...]:
    ascii_json = json.dumps(text)[1:-1]
    return (ascii_json, ascii_json.replace("/", "\\/"), json.dumps(text, ensure_ascii=False)[1:-1])


def is_secret_header(name: str) -> bool:
    """Whether a header of this name holds a secret."""
    return any(word in _WORDS for word in re.split(r"[-_]", name.lower()))


def header_secrets(headers: Mapping[str, str]) -> list[str]:
    """The secrets in headers whose names say that they hold one."""
    return with_tokens(value for name, value in headers.items() if is_secret_header(name))


def with_tokens(values: Iterable[str]) -> list[str]:
    """Values of headers, and the tokens that follow a scheme such as Bearer in them."""
    header_values = list(values)
    return [*header_values, *(value.split(" ", 1)[1] for value in header_values if " " in value)]


def address_secrets(address: str | None) -> list[str]:
    """The password in an address: as written, decoded, and as it is sent to a proxy."""
    try:
        parts = urlsplit(address or "")
    except ValueError:
        return []
    if not parts.password:
        return []
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
    return [parts.password, unquote(parts.password), base64.b64encode(pair.encode()).decode()]


def environment_secrets(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The secrets in variables whose names say that they hold one, and the passwords in addresses."""
    secrets: list[str] = []
    for name, value in environment.items():
        if name.lower().rpartition("_")[2] in _NAMES and len(value) >= SHORTEST_IN_A_REPLY:
            secrets.append(value.strip())
        elif "@" in value:
            secrets += address_secrets(value if "://" in value else f"http://{value}")
    return secrets


def environment_key(variable: str, setting: str | None = None) -> str | None:
    """The key in a variable of the environment; None where there is none.

    Args:
        setting: names the variable, for the message; None where the variable has one name for all.

    Raises:
        StudyError: it holds a character that no header can carry.
    """
    # a key that was read from a file often ends in a line break
    key = os.environ.get(variable, "").strip()
    if not all(" " <= letter <= "~" for letter in key):
        origin = f", named by {setting}," if setting else ""
        raise StudyError(
            f"the environment variable {variable}{origin} holds a line break or another character that "
            f"is not part of a key; set it to the key alone"
        )
    return key or None


def has_key_form(text: str) -> bool:
    """Whether a text holds something in the form of a provider's key."""
    return _KEY.search(text) is not None


def without_keys(text: str) -> str:
    """A text in which everything in the form of a provider's key is masked."""
    return _KEY.sub(MASK_TEXT, text)
