"""Judgements in the config: what a schema cannot say of them, and the files that they are read from.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from fieldwork.config.auxiliaries import Auxiliary
from fieldwork.config.filling import judging_of
from fieldwork.config.layers import Config
from fieldwork.config.memory import REFINED_UNITS, memory_conditions, memory_corpus, refines
from fieldwork.config.paths import require_files

OF_MEMORY = frozenset({"attributes", "relevance", "mentions"})
"""Kinds of units that are made from attributes of users."""
OF_ANSWERS = frozenset({"answers", "pairs", "mentions"})
"""Kinds of units that are made from answers."""
OF_PAIRS = frozenset({"pairs", "mentions"})
"""Kinds of units in which two answers are set side by side."""

LEARNT_KINDS = ("attributes", "relevance", "pairs")
"""Kinds of units of which it can be learnt what raters would say."""

_JUDGE_TASK = "judging."
_UNITS_ASSUMED = 200
"""Units that a plan assumes where all are taken."""


def named_scales(config: Config) -> dict[str, Config]:
    """The scales, each with its name; keys are those of `Scale` in `sections/judging`."""
    return {name: {"name": name, **scale} for name, scale in judging_of(config)["scales"].items()}


def judgement_sources(
    config: Config, find_shipped: Callable[[str], str], *, is_given: bool = False
) -> dict[str, Config]:
    """The sources of judgements, each with its files.

    Args:
        is_given: only those whose units the study gave to raters.

    Raises:
        StudyError: there is nothing at a path.
    """
    return {
        name: {
            **source,
            "files": require_files(
                config, f"judging.sources.{name}.path", source["path"], find_shipped
            ),
        }
        for name, source in judging_of(config)["sources"].items()
        if source["units"] == "given" or not is_given
    }


def judgement_files(
    config: Config, find_shipped: Callable[[str], str], *, is_given: bool = False
) -> list[str]:
    """The files of all these sources; arguments as above.

    Raises:
        StudyError: there is nothing at a path.
    """
    sources = judgement_sources(config, find_shipped, is_given=is_given).values()
    return [file for source in sources for file in source["files"]]


def pair_sides(config: Config) -> dict[str, list[str]]:
    """The two conditions of the pairs of a scale that judges nothing else."""
    entries = judging_of(config)["units"].values()
    # answers of the kit come back as sources whose units are given
    from_files = judging_of(config)["sources"].values()
    uses = Counter(
        entry["scale"] for entry in (*entries, *from_files) if entry.get("units") != "given"
    )
    return {
        entry["scale"]: entry["conditions"]
        for entry in entries
        if entry["of"] == "pairs" and uses[entry["scale"]] == 1
    }


def unit_settings(config: Config, units: str) -> Config:
    """How units are drawn; keys are those of `UnitSettings` in `judging/units`."""
    entry = judging_of(config)["units"][units]
    return {
        "name": units,
        "n": entry["n"],
        "group": entry["group"],
        "seed": config["study"]["seed"],
    }


def unit_inputs(config: Config, units: str) -> dict[str, list[str]]:
    """The tables that units are made from, by what they hold."""
    entry = judged_units(config)[units]
    has_memory, kind = bool(memory_conditions(config)), entry["of"]
    has_questions = kind != "attributes"
    model, tasks = entry["model"], entry["tasks"]
    conversations = f"<results>/corpus/{memory_corpus(config)}/conversations.parquet"
    return {
        # what is known of the user is shown beside answers as well
        "attributes": ["<results>/memory/attributes.parquet"] if has_memory else [],
        "conversations": [conversations] if has_memory and kind == "attributes" else [],
        "questions": [f"<results>/tasks/{task}.parquet" for task in tasks if has_questions],
        "responses": [
            f"<results>/responses/{model}/{task}/{condition}.parquet"
            for condition in entry["conditions"]
            for task in tasks
            if kind in OF_ANSWERS
        ],
    }


def judges_answers(config: Config, units: str) -> list[str]:
    """The tables of what judges answered about units."""
    task = judge_task(units)
    return [
        f"<results>/answers/parsed/{model}/{task}/{task}.parquet"
        for model in config["judging"]["judges"]["models"]
    ]


def judged_units(config: Config) -> dict[str, Config]:
    """The entries of `judging.units`, each with the model and the tasks that it stands for."""
    study = config["study"]
    return {
        name: entry
        | {
            "model": entry["model"] or study["models"][0],
            "tasks": entry["tasks"] or study["tasks"],
        }
        for name, entry in judging_of(config)["units"].items()
    }


def unit_tables(config: Config) -> list[str]:
    """The tables of what raters are given."""
    return [f"<results>/judging/texts/{name}.parquet" for name in judging_of(config)["units"]]


def judged_by_models(config: Config) -> list[str]:
    """The entries of `judging.units` that models judge."""
    judges = judging_of(config)["judges"]
    return [] if judges is None else list(judges["units"] or judging_of(config)["units"])


def verification_tables(config: Config) -> list[str]:
    """The table of what became of attributes when they were verified."""
    is_verified = memory_conditions(config) and config["memory"]["verify"]
    return ["<results>/memory/verifications.parquet"] if is_verified else []


def refined_units(config: Config) -> list[str]:
    """The units that verified attributes add for the study's judges: what was stated once more."""
    has_judges = judging_of(config)["judges"] is not None
    return [REFINED_UNITS] if has_judges and refines(config) else []


def unit_scale(config: Config, units: str) -> Config:
    """The scale on which units are judged, with its name."""
    return named_scales(config)[_entry_of(config, units)["scale"]]


def verifying_scale(config: Config) -> Config | None:
    """The scale of the attributes that verification learns from; None where nothing is verified."""
    verify = config["memory"]["verify"]
    return unit_scale(config, verify["units"]) if verify else None


def _entry_of(config: Config, units: str) -> Config:
    """The entry of units; what was stated once more is judged as attributes are."""
    name = config["memory"]["verify"]["units"] if units == REFINED_UNITS else units
    entry: Config = judging_of(config)["units"][name]
    return entry


def judge_task(units: str) -> str:
    """The auxiliary task in which models judge an entry of `judging.units`."""
    return f"{_JUDGE_TASK}{units}"


def judge_prompt(config: Config, units: str) -> str:
    """The file of the question to the judges."""
    kind = _entry_of(config, units)["of"]
    prompts: Config = config["judging"]["judges"]["prompts"]
    return str(prompts.get(units, f"resources/judge_prompts/{kind}.txt"))


def judging_auxiliaries(config: Config) -> dict[str, Auxiliary]:
    """The questions to judges, by the name of their task."""
    auxiliaries = {}
    for name in [*judged_by_models(config), *refined_units(config)]:
        judges, units = config["judging"]["judges"], _entry_of(config, name)
        orders = 2 if units["of"] in OF_PAIRS else 1
        auxiliaries[judge_task(name)] = Auxiliary(
            models=judges["models"],
            runs=judges["repeats"],
            temperature=judges["temperature"],
            max_tokens=judges["max_tokens"],
            kind="choice",
            n_items=orders * (units["n"] or _UNITS_ASSUMED),
            question_tokens=config["plan"]["question_tokens"] + 2 * config["plan"]["list_tokens"],
        )
    return auxiliaries


def judging_files(config: Config) -> Iterator[tuple[str, str]]:
    """The settings that name a file each, with the path."""
    if judging_of(config)["units"]:
        for key in ("consent", "texts"):
            yield f"judging.kit.{key}", config["judging"]["kit"][key]
        if config["judging"]["groups"]:
            yield "judging.groups", config["judging"]["groups"]
    for name in judged_by_models(config):
        yield f"judging.judges.prompts.{name}", judge_prompt(config, name)
