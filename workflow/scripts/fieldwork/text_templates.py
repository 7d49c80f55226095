"""Templates of texts that models and people read: Jinja files, rendered strictly.

A template sees the values that it is given and nothing else of this program. A name that there is no
value for is an error, because a text with a hole in it would be asked and paid for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError, first_line


class TextTemplate(NamedTuple):
    """A text in the language of Jinja, and its file, for messages."""

    text: str
    source: str


def read_template(path: str) -> TextTemplate:
    """The template in a file.

    Raises:
        StudyError: it cannot be read as UTF-8.
    """
    try:
        return TextTemplate(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read as text ({first_line(error)})") from error


def render(template: TextTemplate, values: Mapping[str, Any]) -> str:
    """The text of a template.

    Args:
        values: by the names that the template may use.

    Raises:
        StudyError: it is no template, or uses a name that there is no value for.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    try:
        return environment.from_string(template.text).render(values).strip()
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        names = ", ".join(sorted(values))
        raise StudyError(
            f"{template.source}: the template cannot be filled in ({first_line(error)}); the names that "
            f"it may use are {names}"
        ) from error
