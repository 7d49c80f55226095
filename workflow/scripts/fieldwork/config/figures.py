"""Which task of a study each figure draws, which tasks have places, and what figures show, checked.

Owns what kinds of questions a task holds, as its sources declare them, which kinds suit a figure, and
which task `auto` takes; also what labels, the baseline and the figure of arms may be. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Mapping

from fieldwork.config.layers import Config
from fieldwork.config.models import is_local, is_recorded

AUTO = "auto"
"""The setting of a figure that takes the first selected task that suits it."""

OWN_FORMATS = frozenset({"items", "recording"})
"""Formats of questions whose kind the source says; benchmarks have choice questions."""

TIMED_FORMATS = frozenset({"inspect", "helm", "every_eval_ever"})
"""Formats of recordings that state how long calls took."""

SUITABLE: Mapping[str, frozenset[str]] = {
    "fig1": frozenset({"list"}),
    "fig2": frozenset({"choice", "scale"}),
    "fig3": frozenset({"choice"}),
    "fig4": frozenset({"list", "choice", "scale"}),
    "fig5": frozenset({"list"}),
    "categories": frozenset({"choice"}),
    "values": frozenset({"scale", "number"}),
}
"""Kinds of questions that a figure draws; one of them is enough."""


def kinds_of(task: Config) -> frozenset[str]:
    """The kinds of questions that an entry of `tasks` holds; a mixed file holds two."""
    kinds = set[str]()
    for source in task["sources"]:
        # benchmarks have questions of one kind, whatever `kind` says
        kind = source["kind"] if source["format"] in OWN_FORMATS else "choice"
        kinds |= {"list", "choice"} if kind == "mixed" else {kind}
    return frozenset(kinds)


def _is_whole_benchmark(task: Config) -> bool:
    """Whether a task takes a benchmark, or subjects of one, without naming its questions."""
    return any(
        part["format"] not in OWN_FORMATS and not part["item_ids"] for part in task["sources"]
    )


def figure_tasks(config: Config) -> dict[str, str | None]:
    """The task that each figure draws; None for a figure that is not drawn."""
    return {
        figure: _first_suitable(config, figure) if task == AUTO else task
        for figure, task in config["figures"].items()
    }


def _first_suitable(config: Config, figure: str) -> str | None:
    """The selected task that `auto` takes for a figure; None where none suits.

    It is the first that suits. For figure 2 chosen choices go before scales and whole benchmarks, for
    figure 3 a task with a leaderboard before one without, for figure 4 lists before others.
    """
    entries = {task: config["tasks"][task] for task in config["study"]["tasks"]}
    suitable = [task for task in entries if kinds_of(entries[task]) & SUITABLE[figure]]
    # of those that are as good, min takes the first
    return min(suitable, key=lambda task: _is_second_best(figure, entries[task]), default=None)


def _is_second_best(figure: str, task: Config) -> bool:
    match figure:
        case "fig2":
            return "choice" not in kinds_of(task) or _is_whole_benchmark(task)
        case "fig3":
            return task["leaderboard"] is None
        case "fig4":
            return "list" not in kinds_of(task)
        case _:
            return False


def task_of(config: Config, figure: str) -> str | None:
    """The task of a figure, also where the figure itself is switched off."""
    task: str | None = config["figures"][figure]
    return _first_suitable(config, figure) if task in (None, AUTO) else task


def has_trade_offs(config: Config) -> bool:
    """Whether a study can set scores against prices or waiting times."""
    tasks = [config["tasks"][name] for name in config["study"]["tasks"]]
    return has_times(config) and any("choice" in kinds_of(task) for task in tasks)


def has_values(config: Config) -> bool:
    """Whether a study asks for points of scales, or for numbers."""
    return _first_suitable(config, "values") is not None


def has_times(config: Config) -> bool:
    """Whether a study has waiting times or prices.

    Models on this machine have neither, and recordings only times.
    """
    models = [config["models"][name] for name in config["study"]["models"]]
    return any(
        _is_timed_recording(config["recordings"][model["recording"]])
        if is_recorded(model)
        else not is_local(model)
        for model in models
    )


def _is_timed_recording(recording: Config) -> bool:
    """Whether a recording names a time; null in its columns takes the usual one away."""
    if "latency_s" in recording["columns"]:
        return recording["columns"]["latency_s"] is not None
    return recording["format"] in TIMED_FORMATS


def survey_tasks(config: Config) -> list[str]:
    """The tasks that participants are asked; those of figures 1 and 2 where the config names none.

    A whole benchmark is asked only where there is nothing else.
    """
    tasks = [task for task in (task_of(config, "fig1"), task_of(config, "fig2")) if task]
    short_tasks = [task for task in tasks if not _is_whole_benchmark(config["tasks"][task])]
    return config["field_kit"]["tasks"] or [*dict.fromkeys(short_tasks or tasks)]


def ranked_tasks(config: Config) -> dict[str, str]:
    """The selected tasks whose scores have places, with the path of their leaderboard.

    A task with a note has other questions than the leaderboard's, or another way of asking, so no place.
    """
    entries = {task: config["tasks"][task] for task in config["study"]["tasks"]}
    return {
        task: entry["leaderboard"]
        for task, entry in entries.items()
        if entry["leaderboard"] and not leaderboard_note(config, task)
    }


def leaderboard_note(config: Config, task: str) -> str | None:
    """Why scores of a task have no place on its leaderboard; None where they have, or it has none.

    That is the task's own note, or that a selected model gives no letters, as the leaderboard's did.
    """
    entry = config["tasks"][task]
    if not entry["leaderboard"]:
        return None
    if entry["leaderboard_note"]:
        return str(entry["leaderboard_note"])
    models = [config["models"][name] for name in config["study"]["models"]]
    labels = [model["label"] for model in models if model.get("choices") == "likelihood"]
    if not labels:
        return None
    return (
        f"{', '.join(labels)}: options were scored by likelihood, and the leaderboard's models gave "
        "letters, so the leaderboard only gives scale"
    )
