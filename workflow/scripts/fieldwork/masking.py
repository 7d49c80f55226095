"""Secrets kept out of all that is written: known ones by their value, others by their form.

Owns the mask that stands in a secret's place, and the rules by which a header, an address or a variable
of the environment holds one. A value is masked in every form that a server may repeat it in: as it is,
escaped as in JSON, and as in an address.
"""

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote, urlsplit

from fieldwork.errors import StudyError

MASKED = "***masked***"

SHORTEST_IN_A_REPLY = 8
"""Letters; what is shorter is a stand-in for a key, and may well be a word of an answer."""

_WORDS = frozenset(
    ("auth", "authorization", "key", "apikey", "token", "secret", "cookie", "password", "passwd")
)
_NAMES = ("key", "apikey", "token", "secret", "password", "passwd")
# as OpenAI and those like it, Google, Google's OAuth, Groq, Hugging Face, GitHub, xAI and JWT write them
_KEY = re.compile(
    r"\b(?:sk-|AIza|ya29\.|gsk_|hf_|gh[opsu]_|github_pat_|xai-|eyJ[\w-]+\.)[\w.-]{16,}"
    r"|(?<=Bearer )[\w.~+/-]{16,}"
)


class Mask:
    """Replaces secrets; more of them can be learnt at any time."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._all = self._long = _either([])
        self._long_raw = self._all_raw = re.compile(self._all.pattern.encode())
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these from now on; empty ones are none."""
        new = {secret for secret in secrets if secret} - self._secrets
        if not new:
            return
        self._secrets |= new
        self._all = _either(self._secrets)
        self._long = _either(s for s in self._secrets if len(s) >= SHORTEST_IN_A_REPLY)
        self._all_raw = re.compile(self._all.pattern.encode())
        self._long_raw = re.compile(self._long.pattern.encode())

    def text(self, text: str) -> str:
        """A message without secrets."""
        return self._all.sub(MASKED, text)

    def line(self, text: str) -> str:
        """A message without secrets and line breaks."""
        return " ".join(self.text(text).split())

    def raw(self, raw: bytes) -> bytes:
        """What a message is made of, without secrets."""
        return self._all_raw.sub(MASKED.encode(), raw)

    def reply(self, raw: bytes) -> bytes:
        """What is kept of a server: without secrets that are long enough to be none by chance."""
        return self._long_raw.sub(MASKED.encode(), raw)

    def record(self, text: str) -> str:
        """The same of a text."""
        return self._long.sub(MASKED, text)


def _either(secrets: Iterable[str]) -> re.Pattern[str]:
    forms = {form for secret in secrets for form in _forms(secret)}
    # the longest first: a secret may be part of another
    ordered = sorted(forms, key=len, reverse=True)
    # without any, what never matches
    return re.compile("|".join(re.escape(form) for form in ordered) or r"(?!)")


def _forms(secret: str) -> Iterable[str]:
    """A secret as it is, as in an address, and in JSON, which servers put into JSON once more."""
    once = _in_json(secret)
    twice = [form for written in once for form in _in_json(written)]
    return (secret, quote(secret, safe=""), quote(secret), *once, *twice)


def _in_json(text: str) -> tuple[str, ...]:
    escaped = json.dumps(text)[1:-1]
    return (escaped, escaped.replace("/", "\\/"), json.dumps(text, ensure_ascii=False)[1:-1])


def is_secret_header(name: str) -> bool:
    """Whether a header of this name holds a secret."""
    return any(word in _WORDS for word in re.split(r"[-_]", name.lower()))


def header_secrets(headers: Mapping[str, str]) -> list[str]:
    """The secrets in headers whose names say that they hold one."""
    return with_tokens(value for name, value in headers.items() if is_secret_header(name))


def with_tokens(values: Iterable[str]) -> list[str]:
    """Values of headers, and what follows a scheme such as Bearer in them."""
    held = list(values)
    return [*held, *(value.split(" ", 1)[1] for value in held if " " in value)]


def address_secrets(address: str | None) -> list[str]:
    """The password in an address, as it is written, as it is meant, and as a proxy is sent it."""
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
    found: list[str] = []
    for name, value in environment.items():
        if name.lower().rpartition("_")[2] in _NAMES and len(value) >= SHORTEST_IN_A_REPLY:
            found.append(value.strip())
        elif "@" in value:
            found += address_secrets(value if "://" in value else f"http://{value}")
    return found


def environment_key(variable: str, setting: str | None = None) -> str | None:
    """The key in a variable of the environment; None where there is none.

    Args:
        setting: names the variable, for the message; None where the variable has one name for all.

    Raises:
        StudyError: it holds what no header can.
    """
    # one read from a file often ends in a line break
    key = os.environ.get(variable, "").strip()
    if not all(" " <= letter <= "~" for letter in key):
        named = f", named by {setting}," if setting else ""
        raise StudyError(
            f"the environment variable {variable}{named} holds a line break or another character that no "
            f"key has; set it again, to the key alone"
        )
    return key or None


def has_key_form(text: str) -> bool:
    """Whether a text holds what has the form of a provider's key."""
    return _KEY.search(text) is not None


def without_keys(text: str) -> str:
    """A text with all that has the form of a provider's key masked."""
    return _KEY.sub(MASKED, text)
