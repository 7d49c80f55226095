"""What a study can select from: the registries that Fieldwork ships, laid under every config.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import csv
from pathlib import Path
from typing import Any

from fieldwork.config.yaml_files import YamlFile, read_yaml
from fieldwork.errors import StudyError

REGISTRY = Path("workflow", "registry")
PRICES = "prices.csv"
"""A row a model id; what a study says of prices stands under `prices`, in the same words."""


def registry_files(home: Path) -> list[Path]:
    """The files of the registries of a project."""
    return sorted((home / REGISTRY).iterdir())


def shipped_files(home: Path) -> list[Path]:
    """The files below every study: the registries, and the config that comes with the project."""
    return [*registry_files(home), home / "config.yaml"]


def read_layer(path: str | Path) -> YamlFile:
    """The settings of one file, YAML or the table of prices.

    Raises:
        StudyError: naming the file, the line and the way out.
    """
    return _read_prices(Path(path)) if Path(path).name == PRICES else read_yaml(path)


def _read_prices(path: Path) -> YamlFile:
    prices: dict[str, Any] = {}
    lines = {"prices": 1}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        for row in rows:
            model = row.pop("model", None)
            if not model or None in row:
                raise StudyError(
                    f"{path}, line {rows.line_num}: not the price of a model; write the model's id in "
                    f"the column model, a cell for each column, and a text with a comma in quotes"
                )
            prices[model] = {column: _value(text) for column, text in row.items() if text}
            lines[f"prices.{model}"] = rows.line_num
    return YamlFile({"prices": prices}, lines)


def _value(text: str) -> str | float:
    # what is no number is refused where all settings are checked
    try:
        return float(text)
    except ValueError:
        return text
