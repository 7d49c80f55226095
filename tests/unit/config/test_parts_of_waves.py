"""What a study has whose conditions are waves."""

import copy
from pathlib import Path

from fieldwork.config.study import Study
from fieldwork.config.waves import tables_of_waves
from unit.config.test_study import study


def with_waves(**waves: str) -> Study:
    """The quickstart study of three conditions without a user, some of which are waves."""
    plain = study(study={"conditions": ["offline", "offline_again", "history"]})
    config = copy.deepcopy(plain.config)
    offline = config["conditions"]["offline"]
    config["conditions"]["offline_again"] = {**offline, "label": "Later", "wave": None}
    for name, wave in waves.items():
        config["conditions"][name]["wave"] = wave
    return Study(config, plain.home)


def test_two_waves_make_a_table_and_a_figure() -> None:
    both, one = (
        with_waves(offline="2026-W40", offline_again="2026-W41"),
        with_waves(offline="2026-W40"),
    )
    tables = {Path(path).stem for path in both.metric_tables()}
    assert tables - {Path(path).stem for path in one.metric_tables()} == {"drift"}
    assert "drift" in both.figures()
    assert "drift" not in one.figures()


def test_the_tables_of_waves_are_those_of_their_conditions() -> None:
    paths = ["responses/m/t/offline.parquet", "responses/m/t/history.parquet"]
    assert tables_of_waves(paths, {"history": "2026-W40"}) == paths[1:]
