"""Writes studies/NAME.yaml for somebody's files: `make study NAME=trivia QUESTIONS=my/trivia.csv`.

It looks into the files, guesses what their columns hold, says what it guessed and what it did not use,
and ends with what to type next. It replaces no file and sends nothing anywhere.
"""

import argparse
import glob
import logging
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from fieldwork.config.drafts import (
    ENOUGH_USERS,
    MOST_PUPPETS,
    REPLICATES,
    CorpusDraft,
    PersonasDraft,
    StudyDraft,
    TaskDraft,
    study_text,
)
from fieldwork.errors import StudyError
from fieldwork.puppets.inspection import guess_corpus, guess_personas
from fieldwork.records.tasks import ItemKind
from fieldwork.tasks.items import read_candidates
from fieldwork.tasks.question_files import QuestionGuess, guess_questions

STUDIES = Path("studies")


def main(arguments: argparse.Namespace) -> None:
    """Look, guess, say and write.

    Raises:
        StudyError: a file cannot be read, or there is such a study.
    """
    path = new_path(arguments.name)
    draft = StudyDraft(
        name=arguments.name,
        tasks=draft_tasks(arguments),
        corpus=draft_corpus(arguments.conversations),
        personas=draft_personas(arguments.personas),
    )
    say_size(draft)
    path.parent.mkdir(exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(study_text(draft))
    print(f"\nWrote {path}. Read it, then:")
    print("  . .venv/bin/activate")
    print(f"  snakemake -n --configfile {path}     # what would run; nothing is sent")
    print(f"  snakemake all --configfile {path}    # the study, on all cores")


def new_path(name: str) -> Path:
    """Where the study is written."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name or ""):
        raise StudyError(
            f"NAME={name}: give the study a name of letters, digits, dots, dashes and underscores"
        )
    path = STUDIES / f"{name}.yaml"
    if path.exists():
        raise StudyError(f"{path}: is there already; choose another NAME, or delete the file")
    return path


def existing(setting: str, path: str) -> list[Path]:
    """The files at a path: one, those of a folder, or those of a pattern."""
    place = Path(path)
    found = [place] if place.is_file() else sorted(place.rglob("*") if place.is_dir() else [])
    found = found or sorted(map(Path, glob.glob(path, recursive=True)))
    files = [file for file in found if file.is_file()]
    if not files:
        raise StudyError(f"{setting}={path}: there is no such file; correct the path")
    return files


# ---- questions -----------------------------------------------------------------------------------


def draft_tasks(arguments: argparse.Namespace) -> list[TaskDraft]:
    """A task for each file of questions."""
    given: list[tuple[str, str, ItemKind | None]] = [
        ("QUESTIONS", arguments.questions, None),
        ("LISTS", arguments.lists, "list"),
    ]
    tasks = [
        draft_task(existing(setting, path)[0], kind, arguments.candidates)
        for setting, path, kind in given
        if path
    ]
    if not tasks:
        raise StudyError("give QUESTIONS=, a file with a question a row, or LISTS=")
    if len({task.name for task in tasks}) < len(tasks):
        raise StudyError(
            f"{arguments.questions}: has no options, so its questions are list questions as those in "
            f"{arguments.lists} are; put both into one file"
        )
    return tasks


def draft_task(path: Path, kind: ItemKind | None, candidates: str) -> TaskDraft:
    """The task of a file, and what was guessed of it."""
    guess = guess_questions(path, kind)
    say_questions(guess)
    named = candidates if guess.kind != "choice" and candidates else None
    known = read_candidates(named) if named else {}
    missing = [i.item_id for i in guess.items if not (i.choices or known.get(i.item_id))]
    if named and missing:
        raise StudyError(
            f"{named}: has no candidates for item {missing[0]!r} of {path}; add some, or leave "
            f"CANDIDATES out"
        )
    return TaskDraft(
        name="lists" if guess.kind == "list" else "questions",
        path=str(path),
        kind=guess.kind,
        n_items=len(guess.items),
        columns=guess.columns_setting(),
        gold=guess.gold,
        candidates=named,
        needs_chat_model=bool(missing),
        doubts=guess.doubts,
    )


def say_questions(guess: QuestionGuess) -> None:
    """What the columns were taken for."""
    form = {"auto": "a letter or a text", "from_0": "a number from 0", "from_1": "a number from 1"}
    kind = "choice and list" if guess.kind == "mixed" else guess.kind
    print(f"{guess.path}: {counted(len(guess.items), f'{kind} question')}.")
    names = {"item_id": "id", "gold": "right option", "options": "options"}
    for role, column in guess.columns.items():
        written = column if isinstance(column, str) else ", ".join(column)
        more = f" ({form[guess.gold]})" if role == "gold" else ""
        print(f"  {names.get(role, role)} = {written}{more}")
    if "item_id" not in guess.columns:
        print(f"  The rows have no id: they are called {guess.items[0].item_id} and so on.")
    if guess.kind != "list" and "gold" not in guess.columns:
        print("  No column looks like the right option, so there are no scores.")
    print(f"  Not used: {', '.join(guess.unused_columns) or 'nothing'}.")
    for doubt in guess.doubts:
        print(f"  CHECK: {doubt}.")


# ---- conversations and personas ------------------------------------------------------------------


def draft_corpus(path: str) -> CorpusDraft | None:
    """The corpus of some files, and who is in it; None for the sample's."""
    if not path:
        print("No CONVERSATIONS are given: those of the sample are used, which are invented.")
        return None
    files = existing("CONVERSATIONS", path)
    print("Conversations:")
    guess = guess_corpus(files)
    draft = CorpusDraft(path, guess.format, guess.columns, guess.users, guess.flags)
    turns, paper = draft.min_user_turns, max(guess.users)
    print(
        f"  {counted(guess.n_conversations, 'conversation')} of {counted(guess.users[1], 'user')}."
    )
    print(
        f"  Users with a conversation of at least {counted(turns, 'message')} of their own: "
        f"{draft.n_users}."
    )
    if turns < paper:
        print(
            f"  With the {paper} messages that the paper asks for: {guess.users[paper]}, which is fewer "
            f"than {ENOUGH_USERS}, so the study asks for {turns} (min_user_turns)."
        )
    return draft


def draft_personas(path: str) -> PersonasDraft | None:
    """The personas of a file; None for the sample's."""
    if not path:
        print("No PERSONAS are given: those of the sample are used, which are invented.")
        return None
    (file, *_) = existing("PERSONAS", path)
    guess = guess_personas(file)
    where = f"column {guess.column}" if guess.column else "a persona a line"
    print(f"{file}: {counted(guess.n_personas, 'persona')} ({where}).")
    return PersonasDraft(str(file), guess.column, guess.n_personas)


def counted(n: int, noun: str) -> str:
    """A number and its noun, in the plural where it is not one."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def say_size(draft: StudyDraft) -> None:
    """How large the study is, and what it cannot say."""
    print(
        f"{counted(draft.runs, 'simulated user')} in each condition, each asked {REPLICATES} times: as "
        f"many as there are users and personas, and {MOST_PUPPETS} at most."
    )
    print(f"That is {counted(draft.n_calls, 'call')} for each model.")
    if draft.runs < 3:
        print("CHECK: whether it matters who asks cannot be told from fewer than 3 users.")
    if draft.needs_chat_model:
        print(
            "CHECK: list questions without CANDIDATES need a chat model; the study asks `local`, a "
            "server on this machine, until you name another (docs/models.md)."
        )


def parser() -> argparse.ArgumentParser:
    """The options that `make study` passes on; an empty one is one that is not given."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--name", default="")
    for option, holds in (
        ("questions", "a question a row: CSV, Excel, JSON or Parquet"),
        ("lists", "list questions, a row each"),
        ("candidates", "CSV of item_id, candidate for list questions"),
        (
            "conversations",
            "a file, folder or pattern of conversations, ChatGPT's export among them",
        ),
        ("personas", "personas, a line or a row each"),
    ):
        made.add_argument(f"--{option}", default="", help=holds)
    return made


def said_while_reading() -> None:
    """Print what the reading of conversations logs; of filters the study has its own."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("  %(message)s"))
    reading = logging.getLogger("fieldwork.puppets.conversations.staging")
    reading.addHandler(handler)
    reading.setLevel(logging.INFO)
    logging.getLogger("fieldwork.puppets.corpus").setLevel(logging.ERROR)


if __name__ == "__main__":
    said_while_reading()
    try:
        main(parser().parse_args())
    except StudyError as error:
        sys.exit(f"ERROR: {error}")
