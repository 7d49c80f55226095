"""All settings of a study as YAML, each with the file and line where it stands.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import yaml

from fieldwork.config.layers import Config, settings_in
from fieldwork.config.study import Study

REGISTRIES = ("models", "prices", "conditions", "tasks", "corpora", "datasets", "recordings")
WIDTH = 60
"""Signs of a line before the place of its setting."""


def print_and_end(text: str) -> NoReturn:
    """Print a text and end the program; who reads it may stop early, as `head` does."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # nothing is left to write when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit()


def settings_text(study: Study) -> str:
    """The filled settings; of registries, the entries that the study names."""
    return "\n".join(_lines(study, with_named_entries(study.config)))


def with_named_entries(config: Config) -> Config:
    """A config whose registries hold what the rest of it names, by any road."""
    shown_config: Config = {name: part for name, part in config.items() if name not in REGISTRIES}
    names: set[str] = set()
    while names != (names := _texts_of(shown_config)):
        for registry in REGISTRIES:
            entries = config.get(registry) or {}
            shown_config[registry] = {name: entries[name] for name in entries if name in names}
    order = ("study", *REGISTRIES, *config)
    return {
        name: shown_config[name]
        for name in dict.fromkeys(order)
        if shown_config.get(name) is not None
    }


def _texts_of(config: Config) -> set[str]:
    return {value for _, _, value in settings_in(config) if isinstance(value, str)}


def _lines(study: Study, part: Mapping[str, Any], keys: tuple[str, ...] = ()) -> Iterator[str]:
    indent = "  " * len(keys)
    for key, value in part.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{key}:"
            yield from _lines(study, value, (*keys, key))
        elif isinstance(value, list) and isinstance(next(iter(value), None), Mapping):
            yield f"{indent}{key}:"
            for number, entry in enumerate(value):
                first, *rest = _lines(study, entry, (*keys, key, str(number)))
                yield f"{indent}  - {first.lstrip()}"
                yield from rest
        else:
            place = study.places.origin(".".join([*keys, key])) or "default"
            yield f"{f'{indent}{key}: {_in_one_line(value)}':{WIDTH}}  # {place}"


def _in_one_line(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
    # how a document of one plain value ends
    return text.strip().removesuffix("...").strip()
