"""Conditions that bring the same users with other conversations, so that both can be told apart.

Owns which conditions form a nest and which conversations of a user each of them takes. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from typing import Any

Config = dict[str, Any]

_FREE_SETTINGS = ("label", "same_users_as")
"""Settings in which conditions of a nest may differ: their contexts are to differ by chance alone."""


def nests_of(config: Config) -> dict[str, list[str]]:
    """The selected conditions of each nest, by the one whose users they have, which is the first."""
    nests: dict[str, list[str]] = {}
    for name in config["study"]["conditions"]:
        first = _first(config, name)
        if first:
            nests.setdefault(first, [first]).append(name)
    return nests


def context_number(config: Config, condition: str) -> int:
    """How many contexts of the same users come before a condition's, selected or not."""
    first = _first(config, condition)
    return 1 + _followers(config, first).index(condition) if first else 0


def _first(config: Config, condition: str) -> str | None:
    first: str | None = config["conditions"][condition].get("same_users_as")
    return first


def _followers(config: Config, first: str) -> list[str]:
    # of the whole registry, so that another selection changes no context that was paid for
    return [name for name in config["conditions"] if _first(config, name) == first]


def broken_nests(config: Config) -> Iterator[str]:
    """What is wrong with conditions that share users, a sentence each."""
    for name in config["conditions"]:
        first = _first(config, name)
        if first:
            yield from _broken_nest(f"conditions.{name}.same_users_as", name, first, config)


def _broken_nest(setting: str, name: str, first: str, config: Config) -> Iterator[str]:
    entry, original = config["conditions"][name], config["conditions"][first]
    if (
        original["context"] != "history"
        or original["pool"] != "user"
        or original.get("same_users_as")
    ):
        yield (
            f"{setting}: {first!r} has no users of its own to ask again; name a condition with context: "
            f"history and pool: user that has no same_users_as"
        )
        return
    defaults = {"corpus": config["study"]["corpus"]}
    for key in original:
        if key not in _FREE_SETTINGS and _differs(entry.get(key), original[key], defaults.get(key)):
            yield (
                f"{setting}: {name!r} and {first!r} have different {key}; give both the same, as only "
                f"their conversations are to differ"
            )
            return
    n_needed = (1 + len(_followers(config, first))) * original["conversations"]
    if (original["out_of"] or 0) < n_needed:
        yield (
            f"conditions.{first}.out_of: the contexts of a user need {n_needed} conversations; set "
            f"out_of to {n_needed} or more in {first!r} and all conditions with its users"
        )
    selection = config["study"]["conditions"]
    if name in selection and first not in selection:
        yield f"{setting}: {first!r} is not in study.conditions; select it, or leave {name!r} out"


def _differs(value: Any, original: Any, default: Any) -> bool:
    values = [default if one is None else one for one in (value, original)]
    return bool(values[0] != values[1])
