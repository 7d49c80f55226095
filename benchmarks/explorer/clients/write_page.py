"""Writes the page of an invented study in a process of its own, so that its memory can be looked at.

    python write_page.py FOLDER RESULT

FOLDER holds `tables/`, and `page/` is written beside it. RESULT gets the seconds it took.
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "benchmarks" / "explorer"))

import invented  # noqa: E402

from fieldwork.explorer.folder import read_parts, write_folder  # noqa: E402

TEMPLATE = ROOT / "resources" / "explorer"


def main(folder: Path, result: Path) -> None:
    """Write the page with the template that the workflow ships."""
    scripts = [str(path) for path in (TEMPLATE / "scripts").glob("*.js")]
    parts = read_parts(str(TEMPLATE / "page.html"), str(TEMPLATE / "page.css"), scripts)
    begun = time.perf_counter()
    sources = invented.tables_in(folder / "tables")
    write_folder(str(folder / "page"), sources, invented.SETTINGS, parts)
    result.write_text(f"{time.perf_counter() - begun}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
