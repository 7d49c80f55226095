"""The pages that a study leaves for a reader, and which of them a run has written."""

from pathlib import Path

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
