"""Mistakes in settings of judgements, and of the memory that is verified and selected by them.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from typing import Any

from fieldwork.config.checks import SettingCheck, Spot, option_texts, repeated_text
from fieldwork.config.judging import LEARNT_KINDS, OF_ANSWERS, OF_MEMORY, OF_PAIRS
from fieldwork.config.layers import Config
from fieldwork.config.memory import memory_conditions, reading_model


def _is_one_sided(scale: Config) -> bool:
    """Whether a scale means something else when the sides are exchanged."""
    options = option_texts(scale["options"])
    prefers_a, prefers_b = ({*option_texts(scale[side])} for side in ("prefers_a", "prefers_b"))
    mirror = dict(zip(options, reversed(options), strict=True))
    return not prefers_a or {mirror[option] for option in prefers_a} != prefers_b


def _first_of_scale(spot: Spot) -> Any:
    """The entry of `judging.units` that has the scale of this one, where one is before it."""
    units = spot.around.items()
    first = next(name for name, one in units if one["scale"] == spot.value["scale"])
    return first if first != spot.name else None


def _given_twice(spot: Spot, key: str) -> str | None:
    """Where a source of judgements says something itself and by a column, or by neither."""
    is_given = spot.value[key] is not None
    if is_given != (spot.value["columns"].get(key) is not None):
        return None
    return "both are given" if is_given else "neither is given"


_SAY_YES = "name the options that say yes"
_BY_JUDGES = ("people", "learnt")

JUDGING_CHECKS = (
    # ---- judgements ------------------------------------------------------------------------------
    SettingCheck(
        "judging.scales.*.options",
        lambda at: repeated_text(option_texts(at.value)) and ", ".join(option_texts(at.value)),
        "two options are alike as texts ({detail}); name each once",
    ),
    SettingCheck(
        "judging.scales.*",
        lambda at: next(
            (
                one
                for one in option_texts(at.value["prefers_a"])
                if one in option_texts(at.value["prefers_b"])
            ),
            None,
        ),
        "{detail!r} prefers both answers; name it in one of prefers_a and prefers_b",
    ),
    SettingCheck(
        "judging.scales.*",
        lambda at: bool(at.value["prefers_a"]) != bool(at.value["prefers_b"]),
        "give both prefers_a and prefers_b, or neither",
    ),
    SettingCheck(
        "judging.units.*",
        _first_of_scale,
        "{detail!r} has this scale too, and their judgements would be counted together; give {name!r} a "
        "scale of its own, with the same options",
        place="judging.units.{name}.scale",
    ),
    SettingCheck(
        "judging.units.*",
        lambda at: next(
            (
                option
                for option in option_texts((at.value["why"] or {"after": ()})["after"])
                if option
                not in option_texts(at.config["judging"]["scales"][at.value["scale"]]["options"])
            ),
            None,
        ),
        "{detail!r} is no option of the scale {value[scale]}; correct it",
        place="judging.units.{name}.why.after",
    ),
    SettingCheck(
        "judging.units.*.of",
        lambda at: at.value in OF_MEMORY and not memory_conditions(at.config),
        "{value} are made from what is known of users, and the study remembers nobody; select a "
        "condition with context memory",
    ),
    SettingCheck(
        "judging.units.*.conditions",
        lambda at: at.around["of"] == "pairs" and len(at.value) != 2,
        "pairs are answers under two conditions; name them",
    ),
    SettingCheck(
        "judging.units.*.conditions",
        lambda at: at.around["of"] in OF_ANSWERS and not at.value,
        "{around[of]} are answers under a condition or more; name them",
    ),
    SettingCheck(
        "judging.units.*.scale",
        lambda at: at.around["of"] in OF_PAIRS and _is_one_sided(at.scale),
        "it is for pairs, whose sides are shown in both orders, so prefers_b must be the mirror of "
        "prefers_a in the order of the options",
        place="judging.scales.{value}",
    ),
    SettingCheck(
        "judging.judges",
        lambda at: not at.around["units"],
        "there is nothing to judge; describe it in judging.units",
    ),
    SettingCheck(
        "judging.learn.*",
        lambda at: (
            at.config["judging"]["units"][at.value]["of"] not in LEARNT_KINDS
            and ", ".join(LEARNT_KINDS)
        ),
        "{value!r} is no entry of judging.units of {detail}; correct the name",
        place="judging.learn",
    ),
    SettingCheck(
        "judging.sources.*.units",
        lambda at: at.value == "given" and not at.config["judging"]["units"],
        "no units are given; describe them in judging.units",
    ),
    SettingCheck(
        "judging.sources.*.sides",
        lambda at: at.value == "shown" and at.around["columns"].get("first_side") is None,
        "it takes columns.first_side to know what was shown first; name the column",
    ),
    SettingCheck(
        "judging.sources.*.scale",
        lambda at: (
            (at.around["sides"], at.around["units"]) == ("shown", "described")
            and not at.scale["prefers_a"]
        ),
        "no option of the scale {value} prefers a side, so none can be turned; give the scale prefers_a "
        "and prefers_b, or leave sides out",
        place="{entry}.sides",
    ),
    SettingCheck(
        "judging.sources.*",
        lambda at: _given_twice(at, "scale"),
        "{detail} of scale and columns.scale; give one of them",
    ),
    SettingCheck(
        "judging.sources.*",
        lambda at: _given_twice(at, "rater_kind"),
        "{detail} of rater_kind and columns.rater_kind; give one of them",
    ),
    # ---- memory ----------------------------------------------------------------------------------
    SettingCheck(
        "memory.at_least",
        lambda at: at.value > at.around["conversations"],
        "users need {value} conversations, but only {around[conversations]} of each are read; lower it, "
        "or raise memory.conversations",
    ),
    SettingCheck(
        "conditions.*.select",
        lambda at: (
            at.value["by"] in ("bm25", "encoder")
            and {at.value["n"], at.value["at_least"]} == {None}
        ),
        "{value[by]} gives every attribute a score; say how many by n, or at_least",
    ),
    SettingCheck(
        "conditions.*.select",
        lambda at: at.value["by"] in _BY_JUDGES and at.value["scale"] is None,
        "name the scale of judging.scales on which attributes were judged",
        place="{entry}.select.scale",
    ),
    SettingCheck(
        "conditions.*.select.scale",
        lambda at: (
            at.around["by"] == "learnt"
            and not any(
                at.config["judging"]["units"][name]["scale"] == at.value
                for name in at.config["judging"]["learn"]
            )
        ),
        "nothing is learnt of units on the scale {value!r}; name their entry of judging.units in "
        "judging.learn",
    ),
    SettingCheck(
        "conditions.*.select.scale",
        lambda at: at.around["by"] in _BY_JUDGES and not at.scale["accepted"],
        _SAY_YES,
        place="judging.scales.{value}.accepted",
    ),
    SettingCheck(
        "memory.verify.units",
        lambda at: at.config["judging"]["units"][at.value]["of"] != "attributes",
        "{value!r} is no entry of judging.units of attributes; name one",
    ),
    SettingCheck(
        "memory.verify.units",
        lambda at: at.value not in at.config["judging"]["learn"],
        "nothing is learnt from {value!r}; name it in judging.learn",
    ),
    SettingCheck(
        "memory.verify.units",
        lambda at: (
            not at.config["judging"]["scales"][
                name := at.config["judging"]["units"][at.value]["scale"]
            ]["accepted"]
            and name
        ),
        _SAY_YES,
        place="judging.scales.{detail}.accepted",
    ),
    SettingCheck(
        "memory",
        lambda at: (
            reading_model(at.config) is None and next(iter(memory_conditions(at.config)), None)
        ),
        "condition {detail!r} needs a model that reads conversations, and the study asks none; name one "
        "of models",
        place="memory.model",
    ),
)
