"""The page of a study that still runs: what is there, and in words what is not.

An arm is what one model answers to one task under one condition: a table of responses.
"""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fieldwork.explorer.folder import PageTables, read_parts, write_folder
from fieldwork.explorer.study_data import PageSettings

logger = logging.getLogger(__name__)

MOST_ARMS = 12
"""Arms without answers that are named one by one."""

Paths = Mapping[str, Sequence[str]]
PathLists = dict[str, list[str]]


def write_unfinished(
    folder: str,
    plan: Paths,
    settings: Mapping[str, Any],
    template: Mapping[str, Any],
    read_replies: Callable[[Path, PathLists], PathLists],
) -> None:
    """Write the page of what is there, in place of an earlier one.

    Args:
        plan: everything that the page of the finished study is made from, by what it holds.
        settings: those of `PageSettings`.
        template: arguments of `read_parts`.
        read_replies: reads the replies that are there into tables in a folder, and says where these are.
    """
    files, page = files_there(plan), PageSettings(**settings)
    missing = missing_parts(plan, files, page)
    with TemporaryDirectory(prefix="fieldwork-") as scratch:
        tables = read_replies(Path(scratch), files) if files["responses"] else {}
        paths = files | tables
        sources = PageTables(**{name: paths.get(name, []) for name in PageTables._fields})
        shutil.rmtree(folder, ignore_errors=True)
        write_folder(folder, sources, page, read_parts(**template), missing)
    sentence = " ".join([f"{folder}/index.html shows what is there.", *missing])
    logger.info("%s", sentence.rstrip("."), extra={"is_shown": True})


def files_there(plan: Paths) -> PathLists:
    """Of the files that a page is made from, those that are there."""
    return {name: [p for p in paths if Path(p).is_file()] for name, paths in plan.items()}


def missing_parts(plan: Paths, files: Paths, settings: PageSettings) -> list[str]:
    """What is not there yet, a sentence each; nothing where all is."""
    return [*_missing_answers(plan, files, settings), *_missing_results(plan, files)]


def _missing_answers(plan: Paths, files: Paths, settings: PageSettings) -> Iterator[str]:
    absent = [path for path in plan["responses"] if path not in files["responses"]]
    if not files["responses"]:
        yield "No model has answered anything yet."
    elif len(absent) > MOST_ARMS:
        yield (
            f"Answers are still missing in {len(absent)} of {len(plan['responses'])} arms of the "
            f"study. An arm is what one model answers to one task under one condition."
        )
    else:
        yield from (_absent_arm(path, settings) for path in absent)


def _absent_arm(path: str, settings: PageSettings) -> str:
    model, task, condition = Path(path).with_suffix("").parts[-3:]
    label = settings.models[model]["label"]
    return f"{label} has not answered {task} under {settings.conditions[condition]['label']} yet."


def _missing_results(plan: Paths, files: Paths) -> Iterator[str]:
    if not files["findings"]:
        yield "The findings are not written yet, because they need all answers."
    figures = [Path(path).stem for path in plan["figures"]]
    drawings = {Path(path).stem for path in files["figures"]}
    drawings &= {Path(path).name.partition(".")[0] for path in files["marks"]}
    absent = [name for name in figures if name not in drawings]
    if absent and len(absent) == len(figures):
        yield "The figures are not drawn yet."
    elif absent:
        yield f"Some figures are not drawn yet: {', '.join(absent)}."
    results = [*files["findings"], *files["figures"]]
    if results and files["responses"] and _newest(files["responses"]) > _oldest(results):
        yield "Some answers are newer than the findings or the figures, which do not count them."


def _newest(paths: Sequence[str]) -> float:
    return max(Path(path).stat().st_mtime for path in paths)


def _oldest(paths: Sequence[str]) -> float:
    return min(Path(path).stat().st_mtime for path in paths)
