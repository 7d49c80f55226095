"""The synthetic field is what its script makes, and says that it is synthetic."""

import csv
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from field_data.synthetic import GROUPS, HERE, MARK, load_prompts, make_field, write_files

FIELD = make_field()
READ = {"keep_default_na": False}
"""One of the answers is `n/a`, which pandas would take for an empty cell."""


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["wide.csv", "long.csv"])
def test_the_files_are_what_the_script_makes(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, FIELD)
    assert (HERE / name).read_bytes() == (tmp_path / name).read_bytes()
    assert read(HERE / name) == (FIELD.wide if name == "wide.csv" else FIELD.long)


def test_the_workbook_holds_the_wide_rows() -> None:
    """Its bytes hold the time it was written, so its cells are compared."""
    sheet = pd.read_excel(HERE / "wide.xlsx", sheet_name="SYNTHETIC", dtype=str, **READ)
    assert sheet.to_dict("records") == FIELD.wide


def test_every_row_says_that_it_is_synthetic() -> None:
    assert {row["note"] for row in (*FIELD.wide, *FIELD.long)} == {MARK}
    assert "SYNTHETIC" in MARK
    assert "Nobody in these files lived" in (HERE / "README.md").read_text(encoding="utf-8")


def test_it_is_shaped_like_a_study() -> None:
    assert len(FIELD.wide) == 40
    assert Counter(row["group"] for row in FIELD.wide) == dict.fromkeys(GROUPS, 10)
    assert {f"Q_{item_id}" for _, item_id in load_prompts()} <= set(FIELD.wide[0])
    asked = Counter((row["panel_id"], row["prompt"]) for row in FIELD.long)
    assert {key for key, n in asked.items() if n == 2} == {(who, p[1]) for who, p in FIELD.repeats}
    assert len({who for who, _ in FIELD.repeats}) == 3
    positions = [
        int(row["position"]) for row in FIELD.long if row["panel_id"] == FIELD.repeats[0][0]
    ]
    assert positions == list(range(1, 16))


def test_what_is_planted_is_in_the_files() -> None:
    texts = "\n".join(
        (HERE / name).read_text(encoding="utf-8") for name in ("wide.csv", "long.csv")
    )
    assert len(FIELD.planted) > 100
    assert not [datum for datum in FIELD.planted if datum not in texts]
    assert min(FIELD.flagged.values()) >= 3


def test_groups_prefer_different_options() -> None:
    named = {
        group: Counter(
            name
            for row in FIELD.wide
            if row["group"] == group
            for name in FIELD.items["recommendations", "movies"].choices
            if name in row["Q_movies"]
        )
        for group in GROUPS
    }
    favourites = [counts.most_common(1)[0][0] for counts in named.values()]
    assert len(set(favourites)) >= 3


def test_another_seed_makes_another_field() -> None:
    assert make_field(41).wide != FIELD.wide
    assert make_field().long == FIELD.long
