"""Memory in the config: which conditions need it, and which questions to models it takes.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator

from fieldwork.conditions import kind_of
from fieldwork.config.auxiliaries import Auxiliary
from fieldwork.config.filling import judging_of
from fieldwork.config.layers import Config
from fieldwork.config.models import is_recorded, states_probabilities
from fieldwork.sections.conditions import SelectionRules
from fieldwork.sections.memory import ReadingRules

READ = "memory.read"
"""The auxiliary task in which conversations are read."""
SELECT = "memory.select"
"""The auxiliary task that asks whether an attribute matters for a question."""
REFINE = "memory.refine"
"""The auxiliary task in which attributes that raters would reject are stated once more."""
REFINED_UNITS = "memory.refined"
"""What was stated once more, as units for the study's judges."""

ATTRIBUTES = "<results>/memory/attributes.parquet"
VERIFIED_ATTRIBUTES = "<results>/memory/verified_attributes.parquet"

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


def _selecting_model(config: Config, condition: Config) -> str | None:
    """The model that selects attributes for a condition; None where no model does."""
    select = condition.get("select") or {}
    return (select["model"] or reading_model(config)) if select.get("by") == "model" else None


def refines(config: Config) -> bool:
    """Whether attributes that raters would reject are stated once more."""
    verify = config["memory"]["verify"]
    return bool(memory_conditions(config)) and verify is not None and verify["refine"]


def usable_attributes(config: Config) -> str:
    """The table of the attributes that are put before questions."""
    return ATTRIBUTES if config["memory"]["verify"] is None else VERIFIED_ATTRIBUTES


def verifying_tables(config: Config, stage: str) -> list[str]:
    """The table of a stage of the units that verification learns from; none where there is none."""
    verify = config["memory"]["verify"]
    return [f"<results>/judging/{stage}/{verify['units']}.parquet"] if verify else []


def refining_prompt(config: Config) -> str:
    """The file of the question for another statement."""
    return str((config["memory"]["verify"] or {"prompt": "resources/memory/refine.txt"})["prompt"])


def refining_responses(config: Config) -> list[str]:
    """The table of what the reading model stated once more."""
    model = reading_model(config)
    return [f"<results>/responses/{model}/{REFINE}/{REFINE}.parquet"] if refines(config) else []


def _selecting_models(config: Config) -> dict[str, None]:
    """The models that select attributes, each once, in the order of their conditions."""
    models = (_selecting_model(config, one) for one in memory_conditions(config).values())
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
    if refines(config):
        # about half of them are stated once more
        n_refined = max(n_read * settings["per_conversation"] // 2, 1)
        auxiliaries[REFINE] = auxiliaries[READ]._replace(n_items=n_refined)
    judges = list(_selecting_models(config))
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


def reading_rules(config: Config) -> Config:
    """How conversations are read, in a form that is decided."""
    return ReadingRules.part_of(config["memory"]) | {"form": reading_form(config)}


def selected_table(config: Config, condition: str) -> list[str]:
    """The table of what is selected for a condition; none where all attributes are put before it."""
    has_questions = kind_of(config["conditions"][condition]).context_for == "puppet and item"
    return ["<results>/memory/selected/{task}/{condition}.parquet"] if has_questions else []


def selection_tables(config: Config, condition: str) -> dict[str, list[str]]:
    """What the attributes of a condition are selected by, by input.

    Of judgements those of the study's own units alone, as others wait for answers under this very
    condition.
    """
    entry = config["conditions"][condition]
    by, units = entry["select"]["by"], _units_of_scale(config, entry["select"]["scale"])
    model = _selecting_model(config, entry)
    table = "judgements" if units is None else f"parts/{units}"
    answers = f"<results>/answers/parsed/{model}/{SELECT}/{SELECT}.parquet"
    return {
        "model_answers": [answers] if model else [],
        "judgements": [f"<results>/judging/{table}.parquet"] if by == "people" else [],
        "scores": [f"<results>/judging/learnt/{units}.parquet"] if by == "learnt" else [],
    }


def _units_of_scale(config: Config, scale: str | None) -> str | None:
    """The entry of `judging.units` that is judged on a scale; no two have one."""
    units = judging_of(config)["units"]
    return next((name for name, entry in units.items() if entry["scale"] == scale), None)


def _n_questions(config: Config) -> int:
    """About how many questions the study asks, for a plan."""
    tasks = [config["tasks"][task] for task in config["study"]["tasks"]]
    parts = [part for task in tasks for part in task["sources"]]
    return sum(len(part["item_ids"]) or int(config["plan"]["items"]) for part in parts)


def selection_rules(condition: Config) -> Config:
    """How the attributes of a condition are selected; of judges at least half must say yes."""
    rules = SelectionRules.part_of(condition["select"])
    is_judged = rules["by"] in ("model", "people", "learnt")
    return rules | ({"at_least": YES_SHARE} if is_judged and rules["at_least"] is None else {})


def memory_files(config: Config) -> Iterator[tuple[str, str]]:
    """The settings that name a file each, with the path."""
    conditions = memory_conditions(config)
    if conditions:
        yield "memory.prompt", reading_prompt(config)
        if config["memory"]["reference"]:
            yield "memory.reference", config["memory"]["reference"]
    for name, condition in conditions.items():
        yield f"conditions.{name}.template", condition["template"]
    if conditions and config["memory"]["verify"]:
        yield "memory.verify.prompt", refining_prompt(config)
    if _selecting_models(config):
        yield "memory.select_prompt", config["memory"]["select_prompt"]
