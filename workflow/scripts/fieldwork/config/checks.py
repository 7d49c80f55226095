"""What no section can say of its settings by itself: a row a mistake, with the sentence on it.

The rows take it that every name which they follow is there (`references`). Read while Snakemake parses
the workflow, so it imports no scientific package.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fieldwork.conditions import counts_conversations, has_user, kind_of
from fieldwork.config.figures import AUTO, SUITABLE, kinds_of
from fieldwork.config.judging import LEARNT_KINDS, OF_ANSWERS, OF_MEMORY, OF_PAIRS
from fieldwork.config.layers import Config, values_at
from fieldwork.config.memory import memory_conditions, reading_model
from fieldwork.config.names import FIGURES
from fieldwork.masking import is_secret_header
from fieldwork.readable_texts import look_of
from fieldwork.waves import present

WRITTEN_FIELDS: Mapping[str, str] = {
    "model": "models.*.model",
    "messages": "conditions and tasks",
    "max_tokens": "tasks.*.max_tokens",
    "max_completion_tokens": "tasks.*.max_tokens",
    "temperature": "conditions.*.temperature",
    "seed": "models.*.send_seed",
    "random_seed": "models.*.send_seed",
    "logprobs": "models.*.top_logprobs",
    "top_logprobs": "models.*.top_logprobs",
    "n": "conditions.*.replicates",
    "stream": "models.*.first_token_sample",
    "stream_options": "models.*.first_token_sample",
    "service_tier": "models.*.dispatch",
    "prompt_cache_key": "models.*.prefix_cache",
    "prompt_cache_options": "models.*.prefix_cache",
}
"""Fields of a call, and the settings that write them."""


class Spot(NamedTuple):
    """A setting that is checked.

    Attributes:
        value: its value, which is not null.
        around: what it stands in.
        name: its last key.
        config: all settings.
    """

    value: Any
    around: Any
    name: str
    config: Config

    def entry(self, registry: str) -> Any:
        """The entry of a registry that the setting names."""
        return self.config[registry][self.value]

    @property
    def scale(self) -> Any:
        """The scale of judgements that the setting names."""
        return self.config["judging"]["scales"][self.value]


class Check(NamedTuple):
    """A mistake in a setting.

    Attributes:
        setting: its keys from the top, where `*` stands for every entry.
        find: what is wrong there, for the sentence; nothing where all is right.
        sentence: what is wrong, and the way out; `found` is what `find` gives.
        place: the setting that the sentence is about, where it is another one.
    """

    setting: str
    find: Callable[[Spot], Any]
    sentence: str
    place: str = ""


def broken_settings(config: Config, checks: Iterable[Check]) -> Iterator[str]:
    """What is wrong with a config, a sentence each, in the order of the checks."""
    for check in checks:
        for keys, value, around in values_at(config, check.setting.split(".")):
            spot = Spot(value, around, keys[-1], config)
            if value is not None and (found := check.find(spot)):
                words = {**spot._asdict(), "found": found, "entry": ".".join(keys[:-1])}
                place = check.place.format(**words) or ".".join(keys)
                yield f"{place}: {check.sentence.format(**words)}"


# ---- single values -------------------------------------------------------------------------------


def _no_host(spot: Spot) -> bool:
    try:
        parts = urlsplit(spot.value)
        return not parts.hostname or parts.port == 0
    except ValueError:
        return True


def _not_json(spot: Spot) -> str:
    try:
        json.dumps(spot.value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def _repeated(texts: Iterable[str]) -> str | None:
    texts = [*texts]
    return next((text for text in texts if texts.count(text) > 1), None)


def _texts(options: Iterable[Any]) -> list[str]:
    """Options as texts, whatever YAML makes of them."""
    return [*map(str, options)]


def _is_future(day: str) -> bool:
    # a day more, as it may be tomorrow already where the price was read
    return day > (present().date() + timedelta(days=1)).isoformat()


def _is_one_sided(scale: Config) -> bool:
    """Whether a scale means something else when the sides are exchanged."""
    options = _texts(scale["options"])
    prefers_a, prefers_b = ({*_texts(scale[side])} for side in ("prefers_a", "prefers_b"))
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


_NO_URL = "not a valid URL; write the host, and a port only if it is not the usual one"
_KEY_SHARED = (
    "{value} lies under results, which may be deleted and shared; keep the key elsewhere, as in "
    "resources/{entry}/key"
)
_SAY_YES = "name the options that say yes"
_BY_JUDGES = ("people", "learnt")

CHECKS = (
    Check(
        "conditions.*.after",
        lambda at: has_user(at.entry("conditions")) or at.entry("conditions").get("after"),
        "name a condition with context: none that follows no other, not {value!r}",
    ),
    Check(
        "conditions.*.after",
        lambda at: at.entry("conditions").get("temperature") != at.around["temperature"],
        "give both the same temperature, as {value!r} is to be asked again",
    ),
    Check(
        "metrics.baseline",
        lambda at: (
            len(names := at.config["study"]["conditions"]) > 1
            and at.value not in names
            and ", ".join(names)
        ),
        "{value!r} is not in study.conditions ({found}), so nothing can be compared with it; select it "
        "there, or name one of these",
    ),
    Check(
        "tasks",
        lambda at: AUTO in at.value,
        "the settings of figures mean something else by this name; choose another",
        place="tasks.auto",
    ),
    Check(
        "figures.*",
        lambda at: (
            at.value != AUTO
            and not kinds_of(at.entry("tasks")) & SUITABLE[at.name]
            and [" or ".join(sorted(k)) for k in (SUITABLE[at.name], kinds_of(at.entry("tasks")))]
        ),
        "the figure draws questions of kind {found[0]}, and those of {value!r} are of kind {found[1]} "
        "(kind in tasks.{value}.sources); name another task, or write null",
    ),
    Check(
        "study.tasks.*",
        lambda at: at.entry("tasks")["leaderboard"] and "choice" not in kinds_of(at.entry("tasks")),
        "only questions with options have scores, and this task has none; remove the leaderboard",
        place="tasks.{value}.leaderboard",
    ),
    Check(
        "power.lists.named",
        lambda at: at.value >= at.around["options"],
        "a list of {value} leaves none of {around[options]} options out; make power.lists.options larger",
    ),
    Check(
        "conditions.*.out_of",
        lambda at: at.value < at.around["conversations"],
        "{value} are drawn, but a puppet is to bring {around[conversations]}; raise it, or lower "
        "conversations",
    ),
    Check(
        "conditions.*.out_of",
        lambda at: kind_of(at.around).is_retrieved and at.around["pool"] == "corpus",
        "what is retrieved from the pool corpus is not drawn; remove it, or say pool: user",
    ),
    *(
        Check(
            f"corpora.*.{setting}",
            lambda at: at.value and at.around["format"] not in (None, "messages"),
            "files of format {around[format]} have columns of their own; remove it, or say format: "
            "messages",
        )
        for setting in ("columns", "roles")
    ),
    Check(
        "field_kit.groups.*.options",
        lambda at: _repeated(look_of(option).casefold() for option in at.value),
        "two of them have the same text, so nobody could tell them apart; change one, or remove it",
    ),
    Check(
        "arms.figure",
        lambda at: (
            (name := at.value.lower()) in FIGURES or (name[:3] == "fig" and name[3:].isdecimal())
        ),
        "{value} is the name of another figure; choose one of its own",
    ),
    Check(
        "arms.conditions.*",
        lambda at: (
            at.config["arms"]["x"] == "conversations"
            and not counts_conversations(at.entry("conditions"))
        ),
        "{value!r} has no number of conversations; leave it out",
        place="arms.conditions",
    ),
    Check("models.*.base_url", _no_host, _NO_URL),
    Check("models.*.proxy", _no_host, _NO_URL),
    Check(
        "models.*.headers.*",
        lambda at: is_secret_header(at.name),
        "a header of this name holds a secret, and a config is published with the results; set it in the "
        "environment, and write {entry}_env: {{{name}: NAME_OF_THE_VARIABLE}}",
    ),
    Check(
        "models.*.extra_body.*",
        lambda at: WRITTEN_FIELDS.get(at.name),
        "take it out; {found} writes this field",
    ),
    Check(
        "models.*.extra_body",
        _not_json,
        "cannot be written as JSON ({found}); write names and dates in quotes, and finite numbers",
    ),
    Check(
        "prices.*.as_of",
        lambda at: _is_future(at.value) and present().date(),
        "{value} is in the future (today is {found} on this machine); write the day on which you read "
        "the price",
    ),
    Check(
        "recordings.*.columns",
        lambda at: at.around["format"] == "table" and not at.value,
        "a table needs to know its columns; name at least item and answer",
    ),
    *(
        Check(
            f"{section}.key_file",
            lambda at: Path(at.value).parts[:1] == ("results",),
            _KEY_SHARED,
        )
        for section in ("study", "field", "judging")
    ),
    Check(
        "calibration.weights",
        lambda at: at.value and not Path(at.value).is_file(),
        "no file {value}; give the calibration_weights.parquet of another study, or null",
    ),
    # ---- judgements ------------------------------------------------------------------------------
    Check(
        "judging.scales.*.options",
        lambda at: _repeated(_texts(at.value)) and ", ".join(_texts(at.value)),
        "two options are alike as texts ({found}); name each once",
    ),
    Check(
        "judging.scales.*",
        lambda at: next(
            (one for one in _texts(at.value["prefers_a"]) if one in _texts(at.value["prefers_b"])),
            None,
        ),
        "{found!r} prefers both answers; name it in one of prefers_a and prefers_b",
    ),
    Check(
        "judging.scales.*",
        lambda at: bool(at.value["prefers_a"]) != bool(at.value["prefers_b"]),
        "give both prefers_a and prefers_b, or neither",
    ),
    Check(
        "judging.units.*",
        _first_of_scale,
        "{found!r} has this scale too, and their judgements would be counted together; give {name!r} a "
        "scale of its own, with the same options",
        place="judging.units.{name}.scale",
    ),
    Check(
        "judging.units.*",
        lambda at: next(
            (
                option
                for option in _texts((at.value["why"] or {"after": ()})["after"])
                if option
                not in _texts(at.config["judging"]["scales"][at.value["scale"]]["options"])
            ),
            None,
        ),
        "{found!r} is no option of the scale {value[scale]}; correct it",
        place="judging.units.{name}.why.after",
    ),
    Check(
        "judging.units.*.of",
        lambda at: at.value in OF_MEMORY and not memory_conditions(at.config),
        "{value} are made from what is known of users, and the study remembers nobody; select a "
        "condition with context memory",
    ),
    Check(
        "judging.units.*.conditions",
        lambda at: at.around["of"] == "pairs" and len(at.value) != 2,
        "pairs are answers under two conditions; name them",
    ),
    Check(
        "judging.units.*.conditions",
        lambda at: at.around["of"] in OF_ANSWERS and not at.value,
        "{around[of]} are answers under a condition or more; name them",
    ),
    Check(
        "judging.units.*.scale",
        lambda at: at.around["of"] in OF_PAIRS and _is_one_sided(at.scale),
        "it is for pairs, whose sides are shown in both orders, so prefers_b must be the mirror of "
        "prefers_a in the order of the options",
        place="judging.scales.{value}",
    ),
    Check(
        "judging.judges",
        lambda at: not at.around["units"],
        "there is nothing to judge; describe it in judging.units",
    ),
    Check(
        "judging.learn.*",
        lambda at: (
            at.config["judging"]["units"][at.value]["of"] not in LEARNT_KINDS
            and ", ".join(LEARNT_KINDS)
        ),
        "{value!r} is no entry of judging.units of {found}; correct the name",
        place="judging.learn",
    ),
    Check(
        "judging.sources.*.units",
        lambda at: at.value == "given" and not at.config["judging"]["units"],
        "no units are given; describe them in judging.units",
    ),
    Check(
        "judging.sources.*.sides",
        lambda at: at.value == "shown" and at.around["columns"].get("first_side") is None,
        "it takes columns.first_side to know what was shown first; name the column",
    ),
    Check(
        "judging.sources.*.scale",
        lambda at: (
            (at.around["sides"], at.around["units"]) == ("shown", "described")
            and not at.scale["prefers_a"]
        ),
        "no option of the scale {value} prefers a side, so none can be turned; give the scale prefers_a "
        "and prefers_b, or leave sides out",
        place="{entry}.sides",
    ),
    Check(
        "judging.sources.*",
        lambda at: _given_twice(at, "scale"),
        "{found} of scale and columns.scale; give one of them",
    ),
    Check(
        "judging.sources.*",
        lambda at: _given_twice(at, "rater_kind"),
        "{found} of rater_kind and columns.rater_kind; give one of them",
    ),
    # ---- memory ----------------------------------------------------------------------------------
    Check(
        "memory.at_least",
        lambda at: at.value > at.around["conversations"],
        "users need {value} conversations, but only {around[conversations]} of each are read; lower it, "
        "or raise memory.conversations",
    ),
    Check(
        "conditions.*.select",
        lambda at: (
            at.value["by"] in ("bm25", "encoder")
            and {at.value["n"], at.value["at_least"]} == {None}
        ),
        "{value[by]} gives every attribute a score; say how many by n, or at_least",
    ),
    Check(
        "conditions.*.select",
        lambda at: at.value["by"] in _BY_JUDGES and at.value["scale"] is None,
        "name the scale of judging.scales on which attributes were judged",
        place="{entry}.select.scale",
    ),
    Check(
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
    Check(
        "conditions.*.select.scale",
        lambda at: at.around["by"] in _BY_JUDGES and not at.scale["accepted"],
        _SAY_YES,
        place="judging.scales.{value}.accepted",
    ),
    Check(
        "memory.verify.units",
        lambda at: at.config["judging"]["units"][at.value]["of"] != "attributes",
        "{value!r} is no entry of judging.units of attributes; name one",
    ),
    Check(
        "memory.verify.units",
        lambda at: at.value not in at.config["judging"]["learn"],
        "nothing is learnt from {value!r}; name it in judging.learn",
    ),
    Check(
        "memory.verify.units",
        lambda at: (
            not at.config["judging"]["scales"][
                name := at.config["judging"]["units"][at.value]["scale"]
            ]["accepted"]
            and name
        ),
        _SAY_YES,
        place="judging.scales.{found}.accepted",
    ),
    Check(
        "memory",
        lambda at: (
            reading_model(at.config) is None and next(iter(memory_conditions(at.config)), None)
        ),
        "condition {found!r} needs a model that reads conversations, and the study asks none; name one "
        "of models",
        place="memory.model",
    ),
    # ---- real users ------------------------------------------------------------------------------
    Check(
        "field",
        lambda at: (
            (at.value["path"] is None) == (at.value["osf"] is None)
            and ("both are given" if at.value["osf"] is not None else "neither is given")
        ),
        "{found}; give path for files on this machine, or osf for a project to fetch",
    ),
    Check(
        "field.prompts",
        lambda at: at.around["layout"] == "wide" and not at.value,
        "layout wide needs the column of each prompt (item_id: column)",
    ),
    *(
        check
        for role in ("prompt", "answer")
        for check in (
            Check(
                "field",
                lambda at, role=role: (
                    at.value["layout"] == "long" and at.value["columns"][role] is None
                ),
                "layout long needs this column; name it, or say layout: wide",
                place=f"field.columns.{role}",
            ),
            Check(
                f"field.columns.{role}",
                lambda at: at.config["field"]["layout"] == "wide",
                "layout wide has field.prompts instead; remove it",
            ),
        )
    ),
    Check(
        "field.skip_prompts",
        lambda at: at.value and at.around["layout"] == "wide",
        "layout wide reads no other columns; remove it",
    ),
    Check(
        "field.prompts",
        lambda at: _repeated(value.strip() for value in at.value.values()),
        "{found!r} is given for several items; each needs its own",
    ),
    Check(
        "field.columns",
        lambda at: (
            at.value["model"] is None
            and at.value["platform"] is None
            and (n_models := len(at.config["study"]["models"])) > 1
            and n_models
        ),
        "the study asks {found} models, so name the column that says which one answered",
        place="field.columns.model",
    ),
)
