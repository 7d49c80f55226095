"""The files that a config names: where they are, and that they are there.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from fieldwork.conditions import materials_of
from fieldwork.config.archived import is_left_out
from fieldwork.config.judging import judging_files
from fieldwork.config.layers import Config, Places, with_place
from fieldwork.config.memory import memory_files
from fieldwork.config.paths import require_files
from fieldwork.config.recordings import study_recordings
from fieldwork.config.settings import study_corpora
from fieldwork.config.variants import source_settings, steps_of
from fieldwork.errors import StudyError


def check_files(config: Config, find_shipped: Callable[[str], str], source: str | Places) -> None:
    """Refuse a study whose settings name a file that is not there.

    Snakemake alone would run on without it wherever the results of an earlier run are there.

    Raises:
        StudyError: naming the study file, the setting and the path.
    """
    for problem in _missing_files(config, find_shipped):
        raise StudyError(with_place(problem, source))


def _missing_files(config: Config, find_shipped: Callable[[str], str]) -> Iterator[str]:
    """Settings that name a file that is not there, a sentence each."""
    conditions = [config["conditions"][name] for name in config["study"]["conditions"]]
    has_profiles = any("profiles" in materials_of(condition) for condition in conditions)
    parts = ("personas", "sentences") if has_profiles else ()
    datasets = [config["profiles"][part]["dataset"] for part in parts]
    for task in config["study"]["tasks"]:
        datasets += [part["dataset"] for part in source_settings(config, task).values()]
    for name in [*study_corpora(config), *datasets, *study_recordings(config)]:
        try:
            source_files(config, name, find_shipped)
        except StudyError as error:
            yield str(error)
    for setting, path in single_files(config):
        # a person's own corrections never come with the workflow
        place = path if setting == "parsing.overrides" else find_shipped(path)
        if not Path(place).is_file() and not is_left_out(config, path):
            yield f"{setting}: no file at {path}; correct the path"


def single_files(config: Config) -> Iterator[tuple[str, str]]:
    """Settings that name a file each, or some, with the path."""
    for setting in ("parsing.aliases", "parsing.overrides", "metrics.categories"):
        section, key = setting.split(".")
        paths = config[section][key] or []
        for path in [paths] if isinstance(paths, str) else paths:
            yield setting, path
    yield "profiles.template", config["profiles"]["template"]
    yield from memory_files(config)
    yield from judging_files(config)
    yield "field_kit.consent", config["field_kit"]["consent"]
    yield "field_kit.texts", config["field_kit"]["texts"]
    for task in config["study"]["tasks"]:
        for place, part in source_settings(config, task).items():
            if part["candidates"]:
                yield f"{place}.candidates", part["candidates"]
        for step in steps_of(config, task):
            if step["table"]:
                yield f"{step['setting'].rpartition('.')[0]}.table", step["table"]
        if config["tasks"][task]["leaderboard"]:
            yield f"tasks.{task}.leaderboard", config["tasks"][task]["leaderboard"]


def location_of(config: Config, name: str) -> Config:
    """Where an entry of a registry of files is: its path, or repository, revision and files."""
    entry: Config = {**config["corpora"], **config["datasets"], **config["recordings"]}[name]
    return {key: entry.get(key) for key in ("path", "repo", "revision", "files")}


def source_files(config: Config, name: str, find_shipped: Callable[[str], str]) -> list[str]:
    """The files an entry of `corpora`, `datasets` or `recordings` is read from.

    Those at its `path`, a folder meaning all files in it; or, for a download, its manifest.

    Raises:
        StudyError: there is nothing at the path.
    """
    path = location_of(config, name)["path"]
    if path is None:
        return [f"resources/downloads/{name}/manifest.json"]
    registry = next(key for key in ("corpora", "recordings", "datasets") if name in config[key])
    way_out = ", or remove it and give repo, revision and files to download"
    return require_files(config, f"{registry}.{name}.path", path, find_shipped, way_out)
