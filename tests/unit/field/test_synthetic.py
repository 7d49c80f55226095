"""The synthetic field is what its script makes, and says that it is synthetic."""

from pathlib import Path

import pandas as pd
import pytest

from field_data.synthetic import HERE, make_field, write_files

FIELD = make_field()
READ = {"keep_default_na": False}
"""One of the answers is `n/a`, which pandas would take for an empty cell."""


@pytest.mark.parametrize("name", ["wide.csv", "long.csv"])
def test_the_files_are_what_the_script_makes(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, FIELD)
    assert (HERE / name).read_bytes() == (tmp_path / name).read_bytes()


def test_the_workbook_holds_the_wide_rows() -> None:
    """Its bytes hold the time it was written, so its cells are compared."""
    sheet = pd.read_excel(HERE / "wide.xlsx", sheet_name="SYNTHETIC", dtype=str, **READ)
    assert sheet.to_dict("records") == FIELD.wide


def test_what_is_planted_is_in_the_files() -> None:
    texts = "\n".join(
        (HERE / name).read_text(encoding="utf-8") for name in ("wide.csv", "long.csv")
    )
    assert len(FIELD.planted) > 100
    assert not [datum for datum in FIELD.planted if datum not in texts]
    assert min(FIELD.flagged.values()) >= 3
