"""The page of a study that still runs says in words what is not there yet."""

import os
from pathlib import Path

import pytest

from fieldwork.explorer.unfinished import files_there, missing_parts, write_unfinished
from unit.explorer.test_page_folder import PARTS, SETTINGS, block_of

NO_RESULTS = [
    "The findings are not written yet, because they need all answers.",
    "The figures are not drawn yet.",
]


def touch(path: Path, at: int = 1_000) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (at, at))
    return str(path)


@pytest.fixture
def plan(tmp_path: Path) -> dict[str, list[str]]:
    """All files of a finished study of two arms and two figures."""
    arms = [tmp_path / f"responses/m/letters/{name}.parquet" for name in ("offline", "history")]
    figures = [tmp_path / f"figures/{name}" for name in ("fig1", "fig2")]
    return {
        "responses": [touch(path) for path in arms],
        "findings": [touch(tmp_path / "findings.md", 2_000)],
        "figures": [touch(path.with_suffix(".svg"), 2_000) for path in figures],
        "marks": [touch(path.with_suffix(".marks.parquet"), 2_000) for path in figures],
    }


def missing(plan: dict[str, list[str]]) -> list[str]:
    return missing_parts(plan, files_there(plan), SETTINGS)


def test_what_is_not_there_is_named(plan: dict[str, list[str]]) -> None:
    assert missing(plan) == []
    touch(Path(plan["responses"][0]), 3_000)
    newer = "Some answers are newer than the findings or the figures, which do not count them."
    assert missing(plan) == [newer]
    touch(Path(plan["responses"][0]))
    # a drawing of an older version has no marks, and cannot be linked
    Path(plan["marks"][1]).unlink()
    assert missing(plan) == ["Some figures are not drawn yet: fig2."]
    for path in (*plan["findings"], *plan["figures"]):
        Path(path).unlink()
    assert missing(plan) == NO_RESULTS
    Path(plan["responses"][1]).unlink()
    arm = "Model </script> has not answered letters under History yet."
    assert missing(plan) == [arm, *NO_RESULTS]
    Path(plan["responses"][0]).unlink()
    assert missing(plan) == ["No model has answered anything yet.", *NO_RESULTS]


def test_a_page_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    template = {}
    for name, text in (("page", PARTS.page), ("style", PARTS.style), ("scripts", "let a = 1;")):
        path = tmp_path / name
        path.write_text(text)
        template[name] = [str(path)] if name == "scripts" else str(path)
    folder = tmp_path / "so_far"
    stale = touch(folder / "data/details-007.js")
    nothing = {
        name: [str(tmp_path / "gone")]
        for name in ("responses", "findings", "figures", "marks", "questions", "contexts")
    }
    for _ in range(2):
        write_unfinished(str(folder), nothing, SETTINGS._asdict(), template, lambda *_: {})
    assert not Path(stale).exists()
    assert block_of(folder)["missing"] == ["No model has answered anything yet.", *NO_RESULTS]
