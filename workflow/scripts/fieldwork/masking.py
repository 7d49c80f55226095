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
# as OpenAI and those like it, Google, Google's OAuth, Groq, Hugging Face, GitHub, xAI and JWT write them;
# there is a digit in each
_KEY = re.compile(
    r"\b(?:sk-(?=[\w-]*\d)[\w-]{16,}|AIza(?=[\w-]*\d)[\w-]{30,}|ya29\.(?=[\w-]*\d)[\w.-]{16,}"
    r"|(?:gsk_|hf_|gh[opsu]_|xai-)(?=[a-zA-Z]*\d)[a-zA-Z0-9]{16,}|github_pat_\w{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)"
    r"|(?<=Bearer )(?=[\w.~+/-]*\d)[\w.~+/-]{16,}"
)


class Mask:
    """Replaces secrets; more of them can be learnt at any time."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._all = self._long = _Forms(())
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these from now on; empty ones are none."""
        new = {secret for secret in secrets if secret} - self._secrets
        if new:
            self._secrets |= new
            self._all = _Forms(self._secrets)
            self._long = _Forms(s for s in self._secrets if len(s) >= SHORTEST_IN_A_REPLY)

    def text(self, text: str) -> str:
        """A message without secrets."""
        return self._all.masked(text.encode("utf-8", "surrogatepass")).decode(
            "utf-8", "surrogatepass"
        )

    def line(self, text: str) -> str:
        """A message without secrets and line breaks."""
        return " ".join(self.text(text).split())

    def raw(self, raw: bytes) -> bytes:
        """What a message is made of, without secrets."""
        return self._all.masked(raw)

    def reply(self, raw: bytes) -> bytes:
        """What is kept, without secrets that are long enough to stand there by no chance."""
        return self._long.masked(raw)


class _Forms:
    """Secrets in every form they may be written in, as bytes."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form.encode() for secret in secrets for form in _forms(secret)}
        # the longest first: a secret may be part of another
        self._forms = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._forms)))

    def masked(self, raw: bytes) -> bytes:
        # nearly always there is none, and looking for each is a hundred times as fast
        if not any(form in raw for form in self._forms):
            return raw
        return self._pattern.sub(MASKED.encode(), raw)


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
