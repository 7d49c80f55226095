"""Conditions that bring the same users with other conversations, so that both can be told apart.

Owns which conditions form a nest and which conversations of a user each of them takes. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.config.checks import SettingCheck, Spot
from fieldwork.config.layers import Config

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


def _different_setting(spot: Spot) -> str | None:
    """A setting in which a condition differs from the one whose users it has."""
    default, original = {"corpus": spot.config["study"]["corpus"]}, spot.entry("conditions")

    def value_of(condition: Config, key: str) -> Any:
        value = condition.get(key)
        return default.get(key) if value is None else value

    names = [key for key in original if key not in _FREE_SETTINGS]
    return next((k for k in names if value_of(spot.around, k) != value_of(original, k)), None)


def _conversations_needed(spot: Spot) -> int:
    """How many conversations of a user are needed for all contexts, where fewer are drawn; else 0."""
    original = spot.entry("conditions")
    n_needed = (1 + len(_followers(spot.config, spot.value))) * int(original["conversations"])
    return n_needed if (original["out_of"] or 0) < n_needed else 0


_SAME_USERS = "conditions.*.same_users_as"

NEST_CHECKS = (
    SettingCheck(
        _SAME_USERS,
        lambda at: (
            (one := at.entry("conditions"))["context"] != "history"
            or one["pool"] != "user"
            or one.get("same_users_as")
        ),
        "{value!r} has no users of its own to ask again; name a condition with context: history and "
        "pool: user that has no same_users_as",
    ),
    SettingCheck(
        _SAME_USERS,
        _different_setting,
        "{keys[1]!r} and {value!r} have different {detail}; give both the same, as only their "
        "conversations are to differ",
    ),
    SettingCheck(
        _SAME_USERS,
        _conversations_needed,
        "the contexts of a user need {detail} conversations; set out_of to {detail} or more in {value!r} "
        "and all conditions with its users",
        place="conditions.{value}.out_of",
    ),
    SettingCheck(
        _SAME_USERS,
        lambda at: (
            at.keys[1] in (names := at.config["study"]["conditions"]) and at.value not in names
        ),
        "{value!r} is not in study.conditions; select it, or leave {keys[1]!r} out",
    ),
)
"""What is wrong with conditions that share users."""
