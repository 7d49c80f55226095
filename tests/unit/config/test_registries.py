"""Registries lie under every config; a study adds to them, and a mistake names the file and the line."""

from pathlib import Path

import pytest

from fieldwork.config.layers import lay_over
from fieldwork.config.reading import read_study
from fieldwork.config.registries import PRICES, REGISTRY, read_layer, shipped_files
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]


def prices_file(folder: Path, *rows: str) -> Path:
    file = folder / PRICES
    file.write_text("\n".join(["model,as_of,input,cached,output,source", *rows]), encoding="utf-8")
    return file


def test_a_price_of_a_study_lies_over_that_of_the_table(tmp_path: Path) -> None:
    prices = prices_file(tmp_path, "m,2026-11-01,1.5,,2,page", 'n,2026-11-01,1,0.5,2,"a, b"')
    study = tmp_path / "mine.yaml"
    study.write_text("prices: {m: {input: 3}}\n")
    layers = lay_over([study], {}, shipped_files=[prices])
    assert layers.settings["prices"] == {
        "m": {"as_of": "2026-11-01", "input": 3, "output": 2.0, "source": "page"},
        "n": {"as_of": "2026-11-01", "input": 1.0, "cached": 0.5, "output": 2.0, "source": "a, b"},
    }
    assert layers.places.origin("prices.m.input") == f"{study}, line 1"
    assert layers.places.of("prices.n.output") == f"{study} + {prices}, line 3"


@pytest.mark.parametrize("row", [",2026-11-01,1,,2,page", "m,2026-11-01,1,,2,a page, and another"])
def test_a_row_that_is_no_price_is_named(tmp_path: Path, row: str) -> None:
    with pytest.raises(StudyError, match=r"prices.csv, line 3: not the price of a model; write"):
        read_layer(prices_file(tmp_path, "n,2026-11-01,1,,2,page", row))


def test_a_price_that_is_no_number_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = tmp_path / REGISTRY
    folder.mkdir(parents=True)
    (tmp_path / "resources").mkdir()
    for file in shipped_files(HOME)[:-1]:
        (folder / file.name).write_bytes(file.read_bytes())
    (tmp_path / "workflow/schemas").symlink_to(HOME / "workflow/schemas")
    prices_file(folder, "m,2026-11-01,cheap,,2,page")
    with pytest.raises(StudyError, match=r"prices.csv, line 2: prices.m.input: 'cheap' is not"):
        read_study(tmp_path, [HOME / "config.yaml"], [], command_line={}, overlay={})
