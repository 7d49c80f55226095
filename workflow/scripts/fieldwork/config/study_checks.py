"""Mistakes in what a study selects, asks and shows.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fieldwork.conditions import counts_conversations, has_user, kind_of
from fieldwork.config.checks import SettingCheck, Spot, repeated_text
from fieldwork.config.drawn import FIGURES
from fieldwork.config.figures import AUTO, SUITABLE, kinds_of
from fieldwork.config.models import is_recorded, states_probabilities
from fieldwork.config.variants import TABLES, kinds_of_put, lineage_of
from fieldwork.masking import is_secret_header
from fieldwork.readable_texts import look_of
from fieldwork.records.generation import MOST_REQUESTS
from fieldwork.waves import Wave, present, read_wave, wave_of

_NAMED_FIGURES = {*FIGURES, "power", "raters"} - {"arms"}

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


def _is_future(day: str) -> bool:
    # a day more, as it may be tomorrow already where the price was read
    return day > (present().date() + timedelta(days=1)).isoformat()


def _wave(name: str) -> Wave | None:
    try:
        return read_wave(name)
    except ValueError:
        return None


def _present_waves() -> str:
    return ", ".join(wave_of(present().date(), span).name for span in ("week", "month", "day"))


def _circle(spot: Spot) -> str | None:
    """The way by which a task is derived from itself."""
    names = [spot.value]
    while (origin := spot.config["tasks"][names[-1]].get("of")) not in (None, *names):
        names.append(origin)
    return origin and " of ".join([*names[names.index(origin) :], origin])


def _format_without_examples(spot: Spot) -> list[str] | None:
    """The task that another is derived from, and its format, where there are no worked examples."""
    if not isinstance(spot.value.get("put", {}).get("scaffold"), dict):
        return None
    origin = lineage_of(spot.config, spot.name)[0]
    forms = (source["format"] for source in spot.config["tasks"][origin]["sources"])
    return next(([origin, form] for form in forms if form != "mmlu"), None)


def _is_participant(spot: Spot) -> bool:
    """Other columns are kept as the field says them, so none may be the one that says who answered."""
    participant: str = spot.config["field"]["columns"]["participant"]
    return bool(spot.value.strip() == participant.strip())


def _same_label(spot: Spot) -> list[str] | None:
    """A label, and what is selected before and has it too, as far as a reader can tell."""
    registry = spot.keys[1]
    owners = {"field": "real users' answers"}
    owners = owners if registry == "conditions" and spot.config["field"] else {}
    for name in spot.around[: int(spot.name)]:
        owners[_label_key(spot.config[registry][name])] = f"{registry}.{name}"
    entry = spot.entry(registry)
    owner = owners.get(_label_key(entry))
    return [entry["label"], owner] if owner else None


def _label_key(entry: Mapping[str, Any]) -> str:
    return look_of(entry["label"]).casefold()


def _n_requests(spot: Spot) -> int:
    """Requests of a study, as far as its items are listed."""
    study = spot.value
    tasks = [spot.config["tasks"][name] for name in study["tasks"]]
    conditions = [spot.config["conditions"][name] for name in study["conditions"]]
    n_items: int = sum(
        task["runs"] * sum(len(source["item_ids"]) or 1 for source in task["sources"])
        for task in tasks
    )
    n_times: int = sum(one.get("replicates", 1) for one in conditions)
    return len(study["models"]) * n_items * n_times


def _unknown_prompt(spot: Spot) -> str | None:
    """What a prompt of the field names that the study does not ask, as far as tasks list their items."""
    tasks = spot.config["study"]["tasks"]
    task, _, item_id = (
        spot.name.rpartition("/") if spot.name.count("/") == 1 else ("", "", spot.name)
    )
    if task and task not in tasks:
        return f"names no task of study.tasks ({', '.join(tasks)})"
    names = [task] if task else tasks
    lists = [s["item_ids"] for name in names for s in spot.config["tasks"][name]["sources"]]
    items = sorted({item for one in lists for item in one})
    is_unknown = all(lists) and item_id not in items
    return f"is no item of the study's tasks ({', '.join(items)})" if is_unknown else None


_KEPT_ID = (
    "{value!r} is field.columns.participant, which nothing else may be: ids are never kept; name another "
    "column"
)
_NO_URL = "not a valid URL; write the host, and a port only if it is not the usual one"
_KEY_SHARED = (
    "{value} lies under results, which may be deleted and shared; keep the key elsewhere, as in "
    "resources/{entry}/key"
)

OF_ORIGINS = (
    SettingCheck(
        "tasks.*.of",
        _circle,
        "the tasks are derived from one another ({detail}); derive one of them from a task with sources",
    ),
    SettingCheck(
        "tasks.*.put",
        lambda at: not kinds_of_put(at.value),
        "it names 0 kinds of change; name one",
    ),
    SettingCheck(
        "tasks.*.put",
        lambda at: len(kinds := kinds_of_put(at.value)) > 1 and ", ".join(kinds),
        "it names several kinds of change ({detail}); leave one, and derive another task from this one",
    ),
    SettingCheck(
        "tasks.*.put.table",
        lambda at: (kind := kinds_of_put(at.around)[0]) not in TABLES and kind,
        "{detail} has no table; remove it",
    ),
    SettingCheck(
        "tasks.*",
        lambda at: "translated" in at.value.get("put", ()) and at.around[at.value["of"]].get("of"),
        "a translation replaces the whole text, and {value[of]!r} is derived itself; translate "
        "{detail!r}, and derive {value[of]!r} from that",
        place="tasks.{name}.put.translated",
    ),
    SettingCheck(
        "tasks.*",
        lambda at: (
            at.value.get("put", {}).get("scaffold") == "think" and not at.value.get("max_tokens")
        ),
        "it is missing, and an answer that begins with its reasons does not end within the tokens of "
        "{value[of]!r}; add one, such as max_tokens: 1024",
        place="tasks.{name}.max_tokens",
    ),
    SettingCheck(
        "tasks.*",
        _format_without_examples,
        "{detail[0]!r} has questions of format {detail[1]}, and worked examples come with format mmlu "
        "alone; choose raw, instruction or think",
        place="tasks.{name}.put.scaffold.shots",
    ),
    SettingCheck(
        "waves.of.*",
        lambda at: at.entry("conditions").get("wave"),
        "{value!r} is a wave itself; name the condition without `wave`",
        place="waves.of",
    ),
    SettingCheck(
        "waves.of.*",
        lambda at: next(
            (
                name
                for name in at.config["study"]["conditions"]
                for key in ("after", "same_users_as")
                if at.config["conditions"].get(name, {}).get(key) == at.value
            ),
            None,
        ),
        "{detail!r} repeats {value!r}, which is asked anew in every wave; leave {detail!r} out of "
        "study.conditions",
        place="waves.of",
    ),
)
"""Mistakes in what adds to the config: tasks that are derived, and conditions that are asked anew."""

STUDY_CHECKS = (
    SettingCheck(
        "study",
        lambda at: (n := _n_requests(at)) > MOST_REQUESTS and f"{n:,}",
        f"the study asks {{detail}} requests or more, and no study may ask more than {MOST_REQUESTS:,}; "
        "lower tasks.*.runs or conditions.*.replicates, or select fewer models, conditions or tasks",
        place="tasks",
    ),
    SettingCheck(
        "conditions.*.wave",
        lambda at: not _wave(at.value) and _present_waves(),
        "{value!r} is no wave; name a week, a month or a day, such as {detail}",
    ),
    SettingCheck(
        "study.conditions.*",
        lambda at: (
            (wave := _wave(at.entry("conditions").get("wave") or ""))
            and wave.is_ahead(present())
            and [wave.name, wave.start, present().date()]
        ),
        "{detail[0]} begins on {detail[1]}, and today is {detail[2]} (UTC); a wave is asked in its "
        "time, so run the study then",
        place="conditions.{value}.wave",
    ),
    SettingCheck(
        "study.models.*",
        lambda at: (
            at.entry("models").get("dispatch") == "batch"
            and any(
                at.config["conditions"][c].get("wave") for c in at.config["study"]["conditions"]
            )
        ),
        "a batch may be answered a day later, when its wave is over; choose live or flex for a study "
        "with waves",
        place="models.{value}.dispatch",
    ),
    SettingCheck(
        "conditions.*.after",
        lambda at: has_user(at.entry("conditions")) or at.entry("conditions").get("after"),
        "name a condition with context: none that follows no other, not {value!r}",
    ),
    SettingCheck(
        "conditions.*.after",
        lambda at: at.entry("conditions").get("temperature") != at.around["temperature"],
        "give both the same temperature, as {value!r} is to be asked again",
    ),
    SettingCheck(
        "metrics.baseline",
        lambda at: (
            len(names := at.config["study"]["conditions"]) > 1
            and at.value not in names
            and ", ".join(names)
        ),
        "{value!r} is not in study.conditions ({detail}), so nothing can be compared with it; select it "
        "there, or name one of these",
    ),
    SettingCheck(
        "tasks",
        lambda at: AUTO in at.value,
        "the settings of figures mean something else by this name; choose another",
        place="tasks.auto",
    ),
    SettingCheck(
        "figures.*",
        lambda at: (
            at.value != AUTO
            and not kinds_of(at.entry("tasks")) & SUITABLE[at.name]
            and [" or ".join(sorted(k)) for k in (SUITABLE[at.name], kinds_of(at.entry("tasks")))]
        ),
        "the figure draws questions of kind {detail[0]}, and those of {value!r} are of kind {detail[1]} "
        "(kind in tasks.{value}.sources); name another task, or write null",
    ),
    SettingCheck(
        "study.tasks.*",
        lambda at: at.entry("tasks")["leaderboard"] and "choice" not in kinds_of(at.entry("tasks")),
        "only questions with options have scores, and this task has none; remove the leaderboard",
        place="tasks.{value}.leaderboard",
    ),
    SettingCheck(
        "power.lists.named",
        lambda at: at.value >= at.around["options"],
        "a list of {value} leaves none of {around[options]} options out; make power.lists.options larger",
    ),
    SettingCheck(
        "conditions.*.out_of",
        lambda at: at.value < at.around["conversations"],
        "{value} are drawn, but a puppet is to bring {around[conversations]}; raise it, or lower "
        "conversations",
    ),
    SettingCheck(
        "conditions.*.out_of",
        lambda at: kind_of(at.around).is_retrieved and at.around["pool"] == "corpus",
        "what is retrieved from the pool corpus is not drawn; remove it, or say pool: user",
    ),
    *(
        SettingCheck(
            f"corpora.*.{setting}",
            lambda at: at.value and at.around["format"] not in (None, "messages"),
            "files of format {around[format]} have columns of their own; remove it, or say format: "
            "messages",
        )
        for setting in ("columns", "roles")
    ),
    SettingCheck(
        "field_kit.groups.*.options",
        lambda at: repeated_text(look_of(option).casefold() for option in at.value),
        "two of them have the same text, so nobody could tell them apart; change one, or remove it",
    ),
    SettingCheck(
        "figure_styles.*",
        lambda at: (
            None not in at.value.values()
            and (first := next(name for name, one in at.around.items() if one == at.value))
            != at.name
            and first
        ),
        "looks like {detail}; give it another colour or marker, or no figure can tell them apart",
    ),
    SettingCheck(
        "arms.figure",
        lambda at: (
            (name := at.value.lower()) in _NAMED_FIGURES
            or (name[:3] == "fig" and name[3:].isdecimal())
        ),
        "{value} is the name of another figure; choose one of its own",
    ),
    SettingCheck(
        "arms.conditions.*",
        lambda at: (
            at.config["arms"]["x"] == "conversations"
            and not counts_conversations(at.entry("conditions"))
        ),
        "{value!r} has no number of conversations; leave it out",
        place="arms.conditions",
    ),
    SettingCheck(
        "study.models.*",
        lambda at: (
            at.config["study"]["probabilities"] == "instead"
            and not states_probabilities(at.entry("models"))
            and not is_recorded(at.entry("models"))
        ),
        "instead needs answers with the probabilities of options, and {value} states none; set "
        "models.{value}.top_logprobs, or study.probabilities to beside",
        place="study.probabilities",
    ),
    SettingCheck("models.*.base_url", _no_host, _NO_URL),
    SettingCheck("models.*.proxy", _no_host, _NO_URL),
    SettingCheck(
        "models.*.headers.*",
        lambda at: is_secret_header(at.name),
        "a header of this name holds a secret, and a config is published with the results; set it in the "
        "environment, and write {entry}_env: {{{name}: NAME_OF_THE_VARIABLE}}",
    ),
    SettingCheck(
        "models.*.extra_body.*",
        lambda at: WRITTEN_FIELDS.get(at.name),
        "take it out; {detail} writes this field",
    ),
    SettingCheck(
        "models.*.extra_body",
        _not_json,
        "cannot be written as JSON ({detail}); write names and dates in quotes, and finite numbers",
    ),
    SettingCheck(
        "prices.*.as_of",
        lambda at: _is_future(at.value) and present().date(),
        "{value} is in the future (today is {detail} on this machine); write the day on which you read "
        "the price",
    ),
    SettingCheck(
        "recordings.*.columns",
        lambda at: at.around["format"] == "table" and not at.value,
        "a table needs to know its columns; name at least item and answer",
    ),
    *(
        SettingCheck(
            f"{section}.key_file",
            lambda at: Path(at.value).parts[:1] == ("results",),
            _KEY_SHARED,
        )
        for section in ("study", "field", "judging")
    ),
    SettingCheck(
        "calibration.weights",
        lambda at: at.value and not Path(at.value).is_file(),
        "no file {value}; give the calibration_weights.parquet of another study, or null",
    ),
    # ---- real users ------------------------------------------------------------------------------
    SettingCheck(
        "field",
        lambda at: (
            (at.value["path"] is None) == (at.value["osf"] is None)
            and ("both are given" if at.value["osf"] is not None else "neither is given")
        ),
        "{detail}; give path for files on this machine, or osf for a project to fetch",
    ),
    SettingCheck(
        "field.prompts",
        lambda at: at.around["layout"] == "wide" and not at.value,
        "layout wide needs the column of each prompt (item_id: column)",
    ),
    SettingCheck(
        "field",
        lambda at: (
            at.value["layout"] == "long"
            and next((r for r in ("prompt", "answer") if at.value["columns"][r] is None), None)
        ),
        "layout long needs this column; name it, or say layout: wide",
        place="field.columns.{detail}",
    ),
    *(
        SettingCheck(
            f"field.columns.{role}",
            lambda at: at.config["field"]["layout"] == "wide",
            "layout wide has field.prompts instead; remove it",
        )
        for role in ("prompt", "answer")
    ),
    SettingCheck(
        "field.skip_prompts",
        lambda at: at.value and at.around["layout"] == "wide",
        "layout wide reads no other columns; remove it",
    ),
    SettingCheck(
        "field.prompts",
        lambda at: repeated_text(value.strip() for value in at.value.values()),
        "{detail!r} is given for several items; each needs its own",
    ),
    SettingCheck(
        "field.columns",
        lambda at: (
            at.value["model"] is None
            and at.value["platform"] is None
            and (n_models := len(at.config["study"]["models"])) > 1
            and n_models
        ),
        "the study asks {detail} models, so name the column that says which one answered",
        place="field.columns.model",
    ),
    *(
        SettingCheck(setting, _is_participant, _KEPT_ID)
        for setting in (
            *(
                f"field.columns.{role}"
                for role in ("platform", "model", "prompt", "answer", "position")
            ),
            "field.columns.groups.*",
        )
    ),
    SettingCheck(
        "field.prompts.*",
        lambda at: at.config["field"]["layout"] == "wide" and _is_participant(at),
        _KEPT_ID,
    ),
    SettingCheck(
        "field.prompts.*",
        _unknown_prompt,
        "{name!r} {detail}",
        place="field.prompts",
    ),
)

LABEL_CHECKS = tuple(
    SettingCheck(
        f"study.{registry}.*",
        _same_label,
        "{detail[0]!r} is the label of {detail[1]} as well; give each its own, or no figure can tell "
        "them apart",
        place=f"{registry}.{{value}}.label",
    )
    for registry in ("models", "conditions")
)
"""Labels of selected entries that no reader could tell apart."""
