"""The page of a study in the config: what it holds, what privacy leaves out of it, and its template.

Owns what `explorer.contexts: auto` means. Read while Snakemake parses the workflow, so it imports no
scientific package.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from fieldwork.conditions import has_user
from fieldwork.config.layers import Config
from fieldwork.config.models import held_form
from fieldwork.config.outline import condition_phrases, question_of
from fieldwork.config.study import Study
from fieldwork.sections.asking import NameRules, ValueRules

PAGE = "<results>/explorer"

SHIPPED_USERS = frozenset(
    {
        # resources/sample: conversations.parquet, personas.jsonl, profile_sentences.csv
        "1ce014316007fe6318c33ddbc83a90f42c0a7a2069088b093ced4a93fe09e7cd",
        "8a3fcaefff51bb03af6b5605a2f7ab548545285f50dec110af17775f11451950",
        "279993991f8b4db384db1cbf8aed1ff3951837e6cb1ebf386432adc838fbbaab",
        # resources/mine: conversations.jsonl, personas.txt
        "c42a05f97bc06934559cde321ca5fb543d11bb3e1061886f766313bd71b22776",
        "4b204515901ef897d41d60d6e8574fc2961b8582fefc1ecf34bc2dffe7182d44",
    }
)
"""Hashes of the files of invented users that come with the workflow: anybody may read them."""
_LARGEST_SHIPPED = 1_000_000

_TEMPLATE = Path("resources", "explorer")
_ASKED_KEYS = ("model", "recorded_as", "encoder", "repo", "package")


def context_form(study: Study) -> str:
    """What the page shows of contexts: `full`, `ids` or `none`."""
    setting = str(study.config["explorer"]["contexts"])
    if setting != "auto":
        return setting
    return "full" if all(map(is_shipped, _user_files(study))) else "ids"


def _user_files(study: Study) -> Iterator[str]:
    """The files that simulated users are made from."""
    for corpus in study.corpora():
        yield from study.source(corpus)
    if study.profiles():
        profiles = study.config["profiles"]
        yield from study.source(profiles["personas"]["dataset"])
        # a template may use no sentences
        if profiles["sentences_per_profile"]:
            yield from study.source(profiles["sentences"]["dataset"])


def is_shipped(path: str) -> bool:
    """Whether a file holds the invented users that come with the workflow, byte for byte."""
    # a file of one's own may lie where a shipped one lay
    file = Path(path)
    if not file.is_file() or file.stat().st_size > _LARGEST_SHIPPED:
        return False
    return hashlib.sha256(file.read_bytes()).hexdigest() in SHIPPED_USERS


def shows_field(study: Study) -> bool:
    """Whether answers of real users are in the page."""
    return bool(study.config["field"] and study.config["explorer"]["field"])


def withheld(study: Study) -> list[str]:
    """What privacy leaves out of the page, a sentence each."""
    form, sentences = context_form(study), []
    has_contexts = bool(study.context_tables())
    if has_contexts and form == "ids":
        sentences.append(
            "The conversations and profiles of the simulated users are left out. Their ids are here, "
            "and the texts are in the study's own tables (explorer.contexts)."
        )
    if has_contexts and form == "none":
        sentences.append(
            "The conversations and profiles of the simulated users are left out, and the ids of the "
            "conversations too (explorer.contexts)."
        )
    if study.config["field"] and not shows_field(study):
        sentences.append(
            "The answers of real users are left out. Figures and findings count them "
            "(explorer.field)."
        )
    if shows_field(study):
        sentences.append(
            "Of real users the page has answers with names, addresses and numbers masked, and nothing "
            "else that they gave (explorer.field)."
        )
    return sentences


def page_settings(study: Study, titles: Mapping[str, str]) -> Config:
    """What the page needs to know of the study; keys are those of `PageSettings` in `explorer/`.

    Args:
        titles: of figures, by the name of their file.
    """
    arms_title = titles.get("{arms_figure}", "")
    phrases = condition_phrases(study, study.drawing()["condition_labels"])
    return {
        "name": study.name,
        "question": question_of(study),
        "baseline": study.baseline,
        "models": {name: _model(name, entry) for name, entry in study.entries("models").items()},
        "conditions": {
            name: {
                "label": entry["label"],
                "phrase": phrases[name],
                "has_user": has_user(entry),
                "temperature": entry.get("temperature"),
                "corpus": entry.get("corpus"),
            }
            for name, entry in study.entries("conditions").items()
        },
        "max_tokens": {name: task["max_tokens"] for name, task in study.entries("tasks").items()},
        "seed": study.config["study"]["seed"],
        "contexts": context_form(study),
        "field": shows_field(study),
        "figures": {name: titles.get(name, arms_title) for name in study.figures()},
        "withheld": withheld(study),
    }


def _model(name: str, entry: Config) -> Config:
    file = Path(entry["path"]).name if entry.get("path") else name
    notes = [entry["note"], held_form(entry), entry.get("limits")]
    return {
        "label": entry["label"],
        "asked": str(next((entry[key] for key in _ASKED_KEYS if entry.get(key)), file)),
        "note": ". ".join(note for note in notes if note) or None,
    }


def page_corpora(study: Study) -> list[str]:
    """Tables of conversations that the page looks into: where they begin is of use with texts only."""
    is_full = context_form(study) == "full"
    corpora = study.corpora() if is_full else []
    return [f"<results>/corpus/{corpus}/conversations.parquet" for corpus in corpora]


def page_field_answers(study: Study) -> list[str]:
    return ["<results>/field/answers.parquet"] if shows_field(study) else []


def page_figures(study: Study, ending: str) -> list[str]:
    """Files of the figures that the page shows."""
    return [f"<results>/figures/{name}.{ending}" for name in study.figures()]


def template_file(study: Study, name: str) -> str:
    return study.resolve(str(_TEMPLATE / name))


def template_scripts(study: Study) -> list[str]:
    """The page's scripts; they are joined in the order of their names."""
    return sorted(map(str, Path(template_file(study, "scripts")).glob("*.js")))


def template_files(study: Study) -> Config:
    return {
        "page": template_file(study, "page.html"),
        "style": template_file(study, "page.css"),
        "scripts": template_scripts(study),
    }


def unfinished_tables(study: Study) -> dict[str, list[str]]:
    """Everything that a page of the study is made from, there or not, by what it holds."""
    field = study.has("field", ["<results>/answers/field.parquet"])
    paths: dict[str, list[str]] = {
        "questions": study.task_tables(),
        "responses": study.tables("responses"),
        "contexts": study.context_tables(),
        "corpora": page_corpora(study),
        "field": field,
        "field_answers": page_field_answers(study),
        "findings": ["<results>/findings.md"],
        "figures": page_figures(study, "svg"),
        "marks": page_figures(study, "marks.parquet"),
    }
    return {
        name: [path.replace("<results>", study.results) for path in files]
        for name, files in paths.items()
    }


def reading_settings(study: Study) -> Config:
    """How the answers of a study that still runs are read; keys are those of its script."""
    parsing = study.config["parsing"]
    overrides = parsing["overrides"] or []
    return {
        "aliases": study.optional_file(parsing["aliases"]),
        "overrides": [overrides] if isinstance(overrides, str) else overrides,
        "naming": NameRules.part_of(parsing),
        "smallest_cell": study.config["metrics"]["smallest_cell"],
        "values": ValueRules.part_of(parsing),
    }
