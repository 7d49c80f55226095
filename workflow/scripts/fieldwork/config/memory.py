"""Memory in the config: which conditions need it, and which questions to models it takes.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from typing import Any

from fieldwork.conditions import kind_of
from fieldwork.config.auxiliaries import Auxiliary
from fieldwork.config.models import is_recorded, states_probabilities

Config = dict[str, Any]

READ = "memory.read"
"""The auxiliary task in which conversations are read."""
SELECT = "memory.select"
"""The auxiliary task that asks whether an attribute matters for a question."""

PROMPTS = {
    "statements": "resources/memory/read_statements.txt",
    "sentences": "resources/memory/read_sentences.txt",
}
YES_SHARE = 0.5
"""Share of yes from which judges select an attribute."""

_SELECT_TOKENS = 5


def memory_conditions(config: Config) -> dict[str, Config]:
    """The selected conditions that bring a memory."""
    return {
        name: entry
        for name in config["study"]["conditions"]
        if kind_of(entry := config["conditions"][name]).has_memory
    }


def memory_corpus(config: Config) -> str:
    """The corpus whose users are remembered."""
    return str(config["memory"]["corpus"] or config["study"]["corpus"])


def reading_model(config: Config) -> str | None:
    """The model that reads conversations; None where the study asks none."""
    name = config["memory"]["model"]
    asked_models = [m for m in config["study"]["models"] if not is_recorded(config["models"][m])]
    return name or next(iter(asked_models), None)


def reading_form(config: Config) -> str:
    """How the reading model states attributes; one that is held to candidates quotes the user."""
    form = str(config["memory"]["form"])
    if form != "auto":
        return form
    model = config["models"].get(reading_model(config), {})
    is_held = model.get("decoding", {}).get("grammar") == "candidates"
    return "sentences" if is_held else "statements"


def reading_prompt(config: Config) -> str:
    """The file of the prompt to the reading model."""
    return str(config["memory"]["prompt"] or PROMPTS[reading_form(config)])


def selecting_model(config: Config, condition: Config) -> str | None:
    """The model that selects attributes for a condition; None where no model does."""
    select = condition.get("select") or {}
    return (select["model"] or reading_model(config)) if select.get("by") == "model" else None


def selecting_models(config: Config) -> dict[str, None]:
    """The models that select attributes, each once, in the order of their conditions."""
    models = (selecting_model(config, one) for one in memory_conditions(config).values())
    return dict.fromkeys(model for model in models if model is not None)


def n_remembered(config: Config) -> int:
    """Users whose conversations are read: as many as the task with the most puppets needs."""
    return max(int(config["tasks"][task]["runs"]) for task in config["study"]["tasks"])


def memory_auxiliaries(config: Config) -> dict[str, Auxiliary]:
    """The questions to models that the study's memories take, by the name of their task."""
    conditions, settings = memory_conditions(config), config["memory"]
    reader = reading_model(config)
    if not conditions or reader is None:
        return {}
    plan, n_users = config["plan"], n_remembered(config)
    n_read = n_users * min(settings["conversations"], max(settings["at_least"], 1))
    tokens = min(plan["conversation_tokens"], settings["longest"])
    auxiliaries = {
        READ: Auxiliary(
            models=[reader],
            runs=1,
            temperature=settings["temperature"],
            max_tokens=settings["max_tokens"],
            kind="text",
            n_items=n_read,
            question_tokens=tokens,
        )
    }
    judges = list(selecting_models(config))
    if judges:
        auxiliaries[SELECT] = Auxiliary(
            models=judges,
            runs=1,
            # of models that state probabilities these are taken, and at T = 0 they are 0 or 1
            temperature=1 if all(states_probabilities(config["models"][j]) for j in judges) else 0,
            max_tokens=_SELECT_TOKENS,
            kind="choice",
            n_items=n_read * settings["per_conversation"] * _n_questions(config),
            question_tokens=plan["question_tokens"],
        )
    return auxiliaries


def reading_settings(config: Config) -> Config:
    """How conversations are read; keys are those of `ReadingSettings` in `memory/reading`."""
    settings = {
        key: config["memory"][key] for key in ("conversations", "longest", "per_conversation")
    }
    return {**settings, "form": reading_form(config)}


def merge_settings(config: Config) -> Config:
    """Which statements become attributes; keys are those of `MergeSettings` in `memory/merging`."""
    keys = ("merge_above", "least_confidence", "needs_evidence")
    return {key: config["memory"][key] for key in keys}


def selected_table(config: Config, condition: str) -> list[str]:
    """The table of what is selected for a condition; none where all attributes are put before it."""
    has_questions = kind_of(config["conditions"][condition]).context_for == "puppet and item"
    return ["<results>/memory/selected/{task}/{condition}.parquet"] if has_questions else []


def selecting_answers(config: Config, condition: str) -> list[str]:
    """The answers of the model that selects attributes for a condition; none where no model does."""
    model = selecting_model(config, config["conditions"][condition])
    return [f"<results>/answers/parsed/{model}/{SELECT}/{SELECT}.parquet"] if model else []


def selecting_judgements(config: Config, condition: str) -> list[str]:
    """The judgements by which attributes are selected for a condition, where people select them."""
    is_by_people = config["conditions"][condition]["select"]["by"] == "people"
    return ["<results>/judging/judgements.parquet"] if is_by_people else []


def accepted_options(config: Config, condition: str) -> Config | None:
    """The scale on which people select attributes for a condition, and its options that say yes."""
    select = config["conditions"][condition]["select"]
    if select["by"] != "people":
        return None
    yes_options = config["judging"]["scales"][select["scale"]]["accepted"]
    return {"scale": select["scale"], "options": [str(option) for option in yes_options]}


def _n_questions(config: Config) -> int:
    """About how many questions the study asks, for a plan."""
    tasks = [config["tasks"][task] for task in config["study"]["tasks"]]
    parts = [part for task in tasks for part in task["sources"]]
    return sum(len(part["item_ids"]) or int(config["plan"]["items"]) for part in parts)


def selection_settings(condition: Config) -> Config:
    """How the attributes of a condition are selected; keys are those of `SelectionSettings`."""
    select = condition["select"]
    is_judged = select["by"] in ("model", "people")
    at_least = YES_SHARE if is_judged and select["at_least"] is None else select["at_least"]
    return {"by": select["by"], "n": select["n"], "at_least": at_least}


def memory_files(config: Config) -> Iterator[tuple[str, str]]:
    """The settings that name a file each, with the path."""
    conditions = memory_conditions(config)
    if conditions:
        yield "memory.prompt", reading_prompt(config)
    for name, condition in conditions.items():
        yield f"conditions.{name}.template", condition["template"]
    if selecting_models(config):
        yield "memory.select_prompt", config["memory"]["select_prompt"]


def broken_memory(config: Config) -> Iterator[str]:
    """What is wrong with `memory` and the conditions that need it, a sentence each."""
    settings = config["memory"]
    if settings["corpus"] is not None and settings["corpus"] not in config["corpora"]:
        names = ", ".join(sorted(config["corpora"]))
        yield f"memory.corpus: {settings['corpus']!r} is not in corpora (there are {names})"
    if settings["at_least"] > settings["conversations"]:
        yield (
            f"memory.at_least: users need {settings['at_least']} conversations, but only "
            f"{settings['conversations']} of each are read; lower it, or raise memory.conversations"
        )
    models = [("memory.model", settings["model"])]
    for name, condition in config["conditions"].items():
        select = condition.get("select")
        if select is None:
            continue
        setting = f"conditions.{name}.select"
        models.append((f"{setting}.model", select["model"]))
        yield from _broken_selection(setting, select, config)
    for setting, model in models:
        if model is not None and model not in config["models"]:
            names = ", ".join(sorted(config["models"]))
            yield f"{setting}: {model!r} is not in models (there are {names})"
        elif model is not None and is_recorded(config["models"][model]):
            yield f"{setting}: the answers of {model!r} are recorded, so it cannot be asked; name another"
    if memory_conditions(config) and reading_model(config) is None:
        name = next(iter(memory_conditions(config)))
        yield (
            f"memory.model: condition {name!r} needs a model that reads conversations, and the study "
            f"asks none; name one of models"
        )


def _broken_selection(setting: str, select: Config, config: Config) -> Iterator[str]:
    by = select["by"]
    if by in ("bm25", "encoder") and select["n"] is None and select["at_least"] is None:
        yield f"{setting}: {by} gives every attribute a score; say how many by n, or at_least"
    if by == "people":
        scales = (config["judging"] or {"scales": {}})["scales"]
        if select["scale"] is None:
            yield f"{setting}.scale: name the scale of judging.scales on which people judged"
        elif select["scale"] not in scales:
            yield f"{setting}.scale: {select['scale']!r} is not in judging.scales"
        elif not scales[select["scale"]]["accepted"]:
            yield f"judging.scales.{select['scale']}.accepted: name the options that say yes"
