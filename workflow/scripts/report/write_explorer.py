"""Write the study's page: index.html, and beside it the data that it loads.

In: answers, replies, contexts, questions, figures with their marks, findings, the page's template.
Out: <results>/explorer.
"""

from typing import Any

from fieldwork import stage
from fieldwork.explorer.folder import PageTables, read_parts, write_folder
from fieldwork.explorer.study_data import PageSettings


def main(
    inputs: dict[str, str | list[str]],
    page: str,
    style: str,
    scripts: list[str],
    folder: str,
    settings: dict[str, Any],
) -> None:
    """Every input but the template is a table of the page, under its name."""
    paths = {name: [path] if isinstance(path, str) else path for name, path in inputs.items()}
    sources = PageTables(**{name: paths.get(name, []) for name in PageTables._fields})
    write_folder(folder, sources, PageSettings(**settings), read_parts(page, style, scripts))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
