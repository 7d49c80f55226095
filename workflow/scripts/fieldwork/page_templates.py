"""Templates of web pages: `{{name}}` filled, and the hashes by which a page allows its own code."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from fieldwork.errors import StudyError

_PLACEHOLDER = re.compile(r"\{\{([a-z_ ]+)\}\}")


def fill(template: str, parts: Mapping[str, str], source: str) -> str:
    """The template with every `{{name}}` replaced; what is put in is not looked through again.

    Raises:
        StudyError: it has a placeholder that `parts` does not name.
    """

    def part(match: re.Match[str]) -> str:
        if match[1] not in parts:
            names = ", ".join(sorted(parts))
            raise StudyError(f"{source}: {match[0]} is not a placeholder; choose from {names}")
        return parts[match[1]]

    return _PLACEHOLDER.sub(part, template)


def inline_text(code: str) -> str:
    """A style or script as it stands in the page, whose hash the policy names."""
    return code.strip() + "\n"


def hash_source(text: str) -> str:
    """The source expression that allows one inline style or script, and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_policy(style: str, script: str) -> str:
    """The policy of a page with one style and one script: every request is refused, and other code."""
    return (
        f"default-src 'none'; style-src {hash_source(style)}; script-src {hash_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def script_json(value: Any) -> str:
    """JSON in ASCII that neither ends nor begins an element of the page it stands in.

    Lone surrogates and the line ends that JavaScript knows besides its own are escaped too.
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
