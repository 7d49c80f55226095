"""The pages that a study leaves for a reader, which of them a run has written, and whom it left out."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PAGES = {
    "Page": "explorer/index.html",
    "Findings": "findings.md",
    "Figures": "figures",
    "Plan": "plan.html",
    "Power": "power/power.md",
    "Field kit": "field_kit/README.md",
}
"""What a reader opens, by title."""


def new_pages(results: str, since: float) -> list[str]:
    """The pages in a folder of results that were written at or after a time; a line each.

    Args:
        since: seconds since the epoch.
    """
    paths = ((title, Path(results, page)) for title, page in PAGES.items())
    return [
        f"{title}: {path}"
        for title, path in paths
        if path.exists() and path.stat().st_mtime >= since
    ]


def field_warning(config: Mapping[str, Any], results: str) -> Iterator[str]:
    """A sentence where earlier runs read real users and this one was not given their column map."""
    if config["field"] is None and Path(results, "field/answers.parquet").exists():
        yield (
            f"WARNING: {results}/field has answers of real users, and this command leaves them out, as "
            f"it names no field. Name the column map too (--configfile YOUR_STUDY.yaml field_page.yaml), "
            f"or delete {results}/field if they are no longer part of the study."
        )
