"""From the files of a config to a checked study.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork.config.layers import lay_over
from fieldwork.config.registries import registry_files
from fieldwork.config.settings import check_config, check_own_name
from fieldwork.config.study import Study
from fieldwork.config.study_files import check_files
from fieldwork.errors import StudyError
from fieldwork.measures import require_measures


def read_study(
    home: Path,
    lowest: Sequence[str | Path],
    files: Sequence[Path],
    *,
    command_line: Mapping[str, Any],
    overlay: Mapping[str, Any],
) -> Study:
    """Read the files of a config, lay them over one another, and check what comes of it.

    Args:
        home: the folder with the Snakefile.
        lowest: the file below those of the user, over the registries; none where the user replaces it.
        files: those given with `--configfile`.
        command_line: settings given with `--config`.
        overlay: all that `files` and `--config` say, merged.

    Raises:
        StudyError: naming the file and the setting, or a declaration of measures that cannot hold.
    """
    if not (home / "resources").is_dir():
        raise StudyError(
            f"{home / 'resources'} is missing; restore it from a copy: the answers you paid for are in "
            "its folder ledger (`git checkout resources` brings back only what comes with Fieldwork)"
        )
    layers = lay_over(files, command_line, shipped_files=[*registry_files(home), *lowest])
    study = Study(layers.settings, home, layers.places)
    check_config(study.config, layers.places)
    require_measures(study.config["metrics"]["margins"])
    check_own_name(overlay, files)
    check_files(study.config, study.resolve, layers.places)
    return study
