"""Files of a survey tool, a row a participant: read, checked, parsed, or refused in a sentence."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from field_data.synthetic import MODEL_IN_FILE, SyntheticField, make_field
from workflow.conftest import REPOSITORY, TINY, Checkout, from_yaml, rows_of

pytestmark = pytest.mark.workflow

# no model is asked for what these tests look at
STUDY = TINY | {"study": {**TINY["study"], "models": ["smollm2"], "conditions": ["offline"]}}


@pytest.fixture(scope="module")
def synthetic() -> SyntheticField:
    return make_field()


def field_setting(synthetic: SyntheticField, model: str = "smollm2") -> dict[str, Any]:
    return from_yaml(
        """
        path: resources/field
        layout: wide
        columns: {participant: panel_id, platform: device, model: assistant,
          groups: {group: group, age: age_band}}
        prompts: $prompts
        models: $models
        """,
        prompts={f"{task}/{item_id}": f"Q_{item_id}" for task, item_id in synthetic.items},
        models={MODEL_IN_FILE: model},
    )


def write_survey(folder: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """The first half as Qualtrics exports it, the second as a workbook."""
    folder.mkdir(parents=True)
    header = list(rows[0])
    half = len(rows) // 2
    with (folder / "wave_1.csv").open("w", newline="", encoding="utf-8-sig") as handle:
        ids = [f'{{"ImportId":"{name}"}}' for name in header]
        cells = [list(row.values()) for row in rows[:half]]
        csv.writer(handle).writerows([header, ["Question"] * len(header), ids, *cells])
    pd.DataFrame(rows[half:]).to_excel(folder / "wave_2.xlsx", index=False, engine="openpyxl")


@pytest.fixture(scope="module")
def surveyed(synthetic: SyntheticField, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(REPOSITORY, tmp_path_factory.mktemp("field"))
    write_survey(made.directory / "resources/field", synthetic.wide)
    study = made.study("field", STUDY | {"field": field_setting(synthetic)})
    made.make("results/field/answers/field.parquet", study=study)
    return made


def read_table(checkout: Checkout, path: str) -> list[dict[str, str]]:
    with (checkout.directory / path).open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_answers_keep_their_file_and_row(surveyed: Checkout) -> None:
    found = rows_of(
        surveyed,
        """SELECT file, min(row), max(row), count(*), count(DISTINCT platform)
        FROM 'RESULTS/field/field/answers.parquet' GROUP BY file ORDER BY file""",
    )
    assert found == [("wave_1.csv", 4, 23, 260, 2), ("wave_2.xlsx", 2, 21, 260, 2)]


def test_what_was_planted_is_found_counted_and_left_out(
    surveyed: Checkout, synthetic: SyntheticField
) -> None:
    flagged: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for row in read_table(surveyed, "results/field/field/quality.csv"):
        flagged[row["check"]] += int(row["n_flagged"])
        excluded[row["check"]] += int(row["n_excluded"])
    assert {check: n for check, n in flagged.items() if n and check != "any"} == synthetic.flagged
    ((n_kept, n_participants),) = rows_of(
        surveyed,
        "SELECT count(*), count(DISTINCT puppet_id) FROM 'RESULTS/field/answers/field.parquet'",
    )
    assert (n_kept, n_participants) == (520 - excluded["any"], 40)
    attrition = read_table(surveyed, "results/field/field/attrition.csv")
    everyone = [row for row in attrition if not row["variable"]]
    assert {row["n_participants"] for row in everyone} == {"40"}
    assert sum(int(row["n_kept"]) for row in everyone) == n_kept


def test_a_map_that_does_not_fit_is_refused_in_a_sentence_that_names_nobody(
    folder: Checkout, synthetic: SyntheticField
) -> None:
    write_survey(folder.directory / "resources/field", synthetic.wide)
    setting = field_setting(synthetic)
    setting["columns"] |= {"participant": "panelid"}
    study = folder.study("field", STUDY | {"field": setting})
    failed = folder.fail("results/field/field/answers.parquet", study=study)
    (sentence,) = {line for line in failed.stderr.splitlines() if line.startswith("ERROR: ")}
    assert "resources/field/wave_1.csv: row 1 has no column 'panelid'" in sentence
    assert "(field.columns.participant) (nearest: 'panel_id')" in sentence
    assert not (folder.directory / "results/field/field").exists()
    assert not any(secret in failed.stderr + failed.stdout for secret in synthetic.planted)
