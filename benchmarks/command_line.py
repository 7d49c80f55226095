"""The command line of a benchmark, from the defaults of its options."""

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple


class Option(NamedTuple):
    """An option that has more to say than its default."""

    default: Any
    help: str | None = None
    choices: Sequence[str] | None = None


def read_options(doc: str | None, out: Path, **options: Any) -> argparse.Namespace:
    """What was entered, with the day and the folder of the results.

    An option has the type of its default; a list takes several of the type of its first, and False is
    made true by its name alone.

    Args:
        options: a default or an `Option` by name, in the order of the help.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    usual = {"day": date.today().isoformat(), "out": Option(out, "folder of the results")}
    for name, entry in (options | usual).items():
        option = entry if isinstance(entry, Option) else Option(entry)
        flag, default = f"--{name.replace('_', '-')}", option.default
        if default is False:
            parser.add_argument(flag, action="store_true", help=option.help)
            continue
        is_list = isinstance(default, list)
        parser.add_argument(
            flag,
            type=type(default[0]) if is_list and default else str if is_list else type(default),
            nargs="*" if is_list else None,
            default=default,
            choices=option.choices,
            help=option.help,
        )
    entered = parser.parse_args()
    entered.out = entered.out.resolve()
    return entered
