"""Texts of people and settings in a page of Markdown, shown as they are: labels, options, names."""

import re

# Markdown's signs, a table's bar and HTML's; an underscore within a word is none
_SIGNS = re.compile(r"[\\`*\[\]|]|~~|(?<![^\W_])_+|_+(?![^\W_])|^[#>+=-]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
# before a blank alone: 0.2 and 3.5 begin no list
_ORDINAL = re.compile(r"^(\d+)(?=[.)](?:\s|$))")


def literal(text: str) -> str:
    """A label, an option or a name as a page of Markdown shows it just as it is, in one line."""
    plain = _ENTITY.sub("&amp;", " ".join(text.split())).replace("<", "&lt;")
    plain = _SIGNS.sub(lambda sign: "".join(f"\\{letter}" for letter in sign[0]), plain)
    return _ORDINAL.sub(r"\1\\", plain)
