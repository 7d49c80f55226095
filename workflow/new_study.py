"""Writes studies/NAME.yaml for your own files: `make study NAME=trivia QUESTIONS=my/trivia.csv`.

It reads the files, guesses what their columns hold, prints the guess and the columns that it does not
use, and ends with the commands to enter next. It replaces no file and sends nothing anywhere.
"""

import argparse
import glob
import logging
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from fieldwork.conditions import kind_of
from fieldwork.config.drafts import (
    ENOUGH_USERS,
    MOST_PUPPETS,
    REPLICATES,
    CorpusDraft,
    ModelDraft,
    PersonasDraft,
    StudyDraft,
    TaskDraft,
    study_text,
)
from fieldwork.config.layers import lay_over
from fieldwork.config.registries import shipped_files
from fieldwork.errors import StudyError
from fieldwork.puppets.inspection import guess_corpus, guess_personas
from fieldwork.records.tasks import ItemKind
from fieldwork.tasks.items import read_candidates
from fieldwork.tasks.question_files import QuestionGuess, guess_questions

HOME = Path(__file__).resolve().parents[1]
STUDIES = Path("studies")

TASK_NAMES: Mapping[ItemKind, str] = {
    "list": "lists",
    "choice": "questions",
    "scale": "scales",
    "number": "numbers",
    "text": "texts",
}
PROVIDERS: Mapping[str, dict[str, Any]] = {
    "openai": {"provider": "openai", "base_url": "https://api.openai.com/v1"},
    "gemini": {"provider": "gemini"},
    "anthropic": {"provider": "anthropic"},
    "local": {
        "provider": "openai",
        "base_url": "http://127.0.0.1:8000/v1",
        "api_key_env": None,
    },
}
"""Settings of a model that MODEL names with its provider; `local` is a server on this machine."""


def main(arguments: argparse.Namespace) -> None:
    """Read the files, print the guesses, and write the study.

    Raises:
        StudyError: a file cannot be read, or a study of this name exists.
    """
    path = new_path(arguments.name)
    config = lay_over([], {}, shipped_files=shipped_files(HOME)).settings
    model = draft_model(arguments.model, config["models"])
    user_conditions = draft_conditions(arguments.conditions, config["conditions"])
    draft = StudyDraft(
        name=arguments.name,
        tasks=draft_tasks(arguments),
        corpus=draft_corpus(arguments.conversations),
        personas=draft_personas(arguments.personas),
        model=model,
        user_conditions=user_conditions,
    )
    print_size(draft)
    path.parent.mkdir(exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(study_text(draft))
    print(f"\nWrote {path}. Read it, then:")
    print(f"  make plan STUDY={path}    # requests, time and cost; nothing is sent")
    print(f"  make run STUDY={path}     # the study, and its findings")


def new_path(name: str) -> Path:
    """The file that the study is written to."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name or ""):
        raise StudyError(
            f"NAME={name}: is not a valid name; use letters, digits, dots, dashes and underscores"
        )
    path = STUDIES / f"{name}.yaml"
    if path.exists():
        raise StudyError(
            f"{path}: the file exists already; choose another NAME, or delete the file"
        )
    return path


def files_at(setting: str, path: str) -> list[Path]:
    """The files at a path: one, those of a folder, or those of a pattern."""
    folder = Path(path)
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*") if folder.is_dir() else [])
    paths = paths or sorted(map(Path, glob.glob(path, recursive=True)))
    files = [file for file in paths if file.is_file()]
    if not files:
        raise StudyError(f"{setting}={path}: the file does not exist; correct the path")
    return files


# ---- questions -----------------------------------------------------------------------------------


def draft_tasks(arguments: argparse.Namespace) -> list[TaskDraft]:
    """A task for each kind of questions in each file."""
    options: list[tuple[str, str, ItemKind | None]] = [
        ("QUESTIONS", arguments.questions, None),
        ("LISTS", arguments.lists, "list"),
    ]
    tasks = []
    for setting, path, kind in options:
        guesses = guess_questions(files_at(setting, path)[0], kind) if path else []
        tasks += [draft_task(g, arguments.candidates, f"my_{setting.lower()}") for g in guesses]
        if guesses:
            print(f"  Not used: {', '.join(guesses[0].unused_columns) or 'nothing'}.")
    if not tasks:
        raise StudyError(
            "no questions are given; add QUESTIONS=FILE, with one question a row, or LISTS=FILE"
        )
    if len({task.name for task in tasks}) < len(tasks):
        raise StudyError(
            f"{arguments.questions}: has list questions, as {arguments.lists} has; put both into one file"
        )
    return tasks


def draft_task(guess: QuestionGuess, candidates: str, dataset: str) -> TaskDraft:
    """The task of questions of one kind; prints what was guessed about them."""
    print_questions(guess)
    candidates_path = candidates if guess.kind == "list" and candidates else None
    candidates_by_item = read_candidates(candidates_path) if candidates_path else {}
    missing = [
        i.item_id
        for i in guess.items
        if guess.kind == "list" and not (i.choices or candidates_by_item.get(i.item_id))
    ]
    if candidates_path and missing:
        raise StudyError(
            f"{candidates_path}: has no candidates for item {missing[0]!r} of {guess.path}; add some, or "
            f"omit CANDIDATES"
        )
    settings = {"rows": guess.rows, "item_ids": list(guess.item_ids), "scale": guess.scale}
    return TaskDraft(
        name=TASK_NAMES[guess.kind],
        path=str(guess.path),
        kind=guess.kind,
        n_items=len(guess.items),
        columns=guess.columns_setting(),
        gold=guess.gold,
        candidates=candidates_path,
        # it writes no list of its own, nor a text of use
        needs_server=bool(missing) or guess.kind == "text",
        doubts=guess.doubts,
        settings={name: value for name, value in settings.items() if value},
        dataset=dataset,
    )


def draft_model(model: str, registry: Collection[str]) -> ModelDraft | None:
    """The model of MODEL: an entry of the registry, or `openai:ID` and the like; None without MODEL."""
    if not model:
        return None
    provider, colon, identity = model.partition(":")
    if colon and provider in PROVIDERS and identity:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", identity).strip("-.") or provider
        return ModelDraft(name, PROVIDERS[provider] | {"label": identity, "model": identity})
    if model in registry:
        return ModelDraft(model)
    raise StudyError(
        f"MODEL={model}: is not in workflow/registry/models.yaml, which has {', '.join(registry)}; name "
        f"one of these, or write the provider before the model's id, as in "
        f"{', '.join(f'{p}:ID' for p in PROVIDERS)}"
    )


def draft_conditions(names: str, registry: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The conditions of CONDITIONS that bring a user; those without one are always asked."""
    users = [name for name, entry in registry.items() if kind_of(entry).has_user]
    chosen = names.replace(",", " ").split() or ["history", "profile"]
    for name in chosen:
        if name not in users:
            raise StudyError(
                f"CONDITIONS={names}: {name!r} is no condition with a user; write some of "
                f"{', '.join(users)}"
            )
    return list(dict.fromkeys(chosen))


def print_questions(guess: QuestionGuess) -> None:
    """Print how the columns are read."""
    form = {"auto": "a letter or a text", "from_0": "a number from 0", "from_1": "a number from 1"}
    print(f"{guess.path}: {quantity(len(guess.items), f'{guess.kind} question')}.")
    names = {"item_id": "id", "gold": "right option", "options": "options"}
    for role, column in guess.columns.items():
        columns = column if isinstance(column, str) else ", ".join(column)
        gold_form = f" ({form[guess.gold]})" if role == "gold" else ""
        print(f"  {names.get(role, role)} = {columns}{gold_form}")
    if "item_id" not in guess.columns:
        print(f"  The rows have no id, so they are named {guess.items[0].item_id} and so on.")
    if guess.kind == "choice" and "gold" not in guess.columns:
        print("  No column has a usual name for the right option, so there are no scores.")
    for setting, value in guess.scale.items():
        print(f"  scale.{setting} = {value if isinstance(value, str) else ', '.join(value)}")
    for doubt in guess.doubts:
        print(f"  CHECK: {doubt}.")


# ---- conversations and personas ------------------------------------------------------------------


def draft_corpus(path: str) -> CorpusDraft | None:
    """The corpus of some files; prints how many users are in it. None stands for the sample's corpus."""
    if not path:
        print("No CONVERSATIONS are given, so the invented ones of the sample are used.")
        return None
    files = files_at("CONVERSATIONS", path)
    print("Conversations:")
    guess = guess_corpus(files)
    draft = CorpusDraft(path, guess.format, guess.columns, guess.users, guess.flags)
    turns, paper = draft.min_user_turns, max(guess.users)
    print(
        f"  {quantity(guess.n_conversations, 'conversation')} of {quantity(guess.users[1], 'user')}."
    )
    print(
        f"  Users who wrote at least {quantity(turns, 'message')} in one conversation: {draft.n_users}."
    )
    if turns < paper:
        print(
            f"  With the paper's minimum of {paper} messages there are {guess.users[paper]} users, "
            f"fewer than {ENOUGH_USERS}, so the study's minimum is {turns} (min_user_turns)."
        )
    return draft


def draft_personas(path: str) -> PersonasDraft | None:
    """The personas of a file; None stands for the sample's personas."""
    if not path:
        print("No PERSONAS are given, so the invented ones of the sample are used.")
        return None
    (file, *_) = files_at("PERSONAS", path)
    guess = guess_personas(file)
    place = f"column {guess.column}" if guess.column else "one persona a line"
    print(f"{file}: {quantity(guess.n_personas, 'persona')} ({place}).")
    return PersonasDraft(str(file), guess.column, guess.n_personas)


def quantity(n: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def print_size(draft: StudyDraft) -> None:
    """Print how large the study is, and what it cannot show."""
    print(
        f"The study has {quantity(draft.runs, 'simulated user')} in each condition and asks each "
        f"{REPLICATES} times. The number is that of the users and personas, and at most {MOST_PUPPETS}."
    )
    print(f"That is {quantity(draft.n_calls, 'call')} for each model.")
    if draft.runs < 3:
        print("CHECK: with fewer than 3 users the study cannot show whether contexts matter.")
    if draft.needs_server and not draft.model:
        print(
            "CHECK: list questions without CANDIDATES need a larger model than SmolLM2. The study uses "
            "`local`, a server on this machine, until you name another (docs/models.md)."
        )


def parser() -> argparse.ArgumentParser:
    """The options that `make study` passes on; an empty one counts as missing."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--name", default="")
    for option, help_text in (
        ("questions", "one question a row: CSV, Excel, JSON or Parquet"),
        ("lists", "list questions, one a row"),
        ("candidates", "CSV of item_id, candidate for list questions"),
        (
            "conversations",
            "a file, folder or pattern of conversations, or ChatGPT's export",
        ),
        ("personas", "personas, one a line or row"),
        (
            "model",
            "an entry of workflow/registry/models.yaml, or the provider and the id: openai:ID",
        ),
        ("conditions", "conditions with a user: history, rag, profile, memory, memory_relevant"),
    ):
        options.add_argument(f"--{option}", default="", help=help_text)
    return options


def print_reading_log() -> None:
    """Print the log of reading conversations, but not of filters, which the study sets itself."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("  %(message)s"))
    reading = logging.getLogger("fieldwork.puppets.conversations.staging")
    reading.addHandler(handler)
    reading.setLevel(logging.INFO)
    logging.getLogger("fieldwork.puppets.corpus").setLevel(logging.ERROR)


if __name__ == "__main__":
    print_reading_log()
    try:
        main(parser().parse_args())
    except StudyError as error:
        sys.exit(f"ERROR: {error}")
