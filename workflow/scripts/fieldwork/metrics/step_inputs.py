"""What functions of metrics take, read from files: by the names of their parameters."""

from collections.abc import Mapping
from typing import Any

from fieldwork import tables
from fieldwork.files.subject_categories import read_categories
from fieldwork.records.parsing import Answer


def read_step_inputs(files: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a step by parameter: answers and questions as frames.

    Args:
        files: path by input, of questions a list.
    """
    values: dict[str, Any] = {}
    for name, path in files.items():
        match name:
            case "answers":
                values["answers"] = tables.read_frame(path, Answer)
            case "questions":
                values["items"] = tables.read_items(path)
            case "subject_categories":
                values["subject_categories"] = read_categories(path)
    return values
