"""Templates of texts that models and people read: Jinja files, rendered strictly.

A template sees the values that it is given and nothing else of this program. A name that there is no
value for is an error, because a text with a hole in it would be asked and paid for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError, first_line


def read_template(path: str | Path) -> str:
    """The text of a template file.

    Raises:
        StudyError: it cannot be read as UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read as text ({first_line(error)})") from error


def render(template: str, values: Mapping[str, Any], source: str) -> str:
    """The text of a template.

    Args:
        template: in the language of Jinja.
        values: by the names that the template may use.
        source: the template's file, for messages.

    Raises:
        StudyError: it is no template, or uses a name that there is no value for.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    try:
        return environment.from_string(template).render(values).strip()
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        names = ", ".join(sorted(values))
        raise StudyError(
            f"{source}: the template cannot be filled in ({first_line(error)}); the names that it may "
            f"use are {names}"
        ) from error
