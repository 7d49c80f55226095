"""How a script's `main` gets its arguments: by name, from what its rule declares.

An argument is an input, output, param, wildcard or resource of the same name. A name that stands for two
of them, or for none, is a mistake of the script's author. A param becomes the section of the config that
the argument's type names, or a named tuple with sections in it. `tests/workflow/test_rule_arguments.py`
holds every script to its rule.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any


def arguments_of(main: Callable[..., None], job: Any) -> dict[str, Any]:
    """What `main` is called with.

    `inputs` and `outputs` stand for all named files of the job, by name, or for all its files where the
    argument is a list; `threads` and `config` are the job's. A list argument gets a list of files, even
    where there is one.

    Args:
        job: the object `snakemake` of a script.

    Raises:
        TypeError: an argument has no source, or more than one.
    """
    hints = typing.get_type_hints(main)
    return {name: _value(name, hints[name], job) for name in inspect.signature(main).parameters}


def sources_of(job: Any) -> dict[str, Mapping[str, Any]]:
    """Everything that an argument can be taken from."""
    return {
        "input": dict(job.input.items()),
        "output": dict(job.output.items()),
        "params": dict(job.params.items()),
        "wildcards": dict(job.wildcards.items()),
        "resources": dict(job.resources.items()),
    }


def _value(name: str, hint: Any, job: Any) -> Any:
    if name in ("inputs", "outputs"):
        files = job.input if name == "inputs" else job.output
        by_name = {key: _files(value, str) for key, value in files.items()}
        return list(files) if _is_list(hint) else by_name
    if name in ("threads", "config"):
        return getattr(job, name)
    homes = {kind: values[name] for kind, values in sources_of(job).items() if name in values}
    if len(homes) != 1:
        raise TypeError(
            f"the argument {name!r} of main is {' and '.join(homes) or 'nothing'} of the rule"
        )
    ((kind, value),) = homes.items()
    if kind in ("input", "output"):
        return _files(value, hint)
    return typed_value(value, hint)


def _files(value: Any, hint: Any) -> str | list[str]:
    if isinstance(value, str):
        return [str(value)] if _is_list(hint) else str(value)
    return list(value)


def _is_list(hint: Any) -> bool:
    return typing.get_origin(hint) is list


def _holds_sections(hint: Any) -> bool:
    """Whether a type is a model of pydantic, or made of some."""
    return hasattr(hint, "model_fields") or any(map(_holds_sections, typing.get_args(hint)))


def typed_value(value: Any, hint: Any) -> Any:
    """A param of a rule as the type that a script names; numbers in named tuples stay as they are."""
    if hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint)
        return hint(**{name: typed_value(part, hints[name]) for name, part in value.items()})
    if not _holds_sections(hint):
        return value
    # few scripts take sections, and none else waits for what builds them
    from pydantic import TypeAdapter

    return TypeAdapter(hint).validate_python(value)
