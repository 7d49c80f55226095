"""What a study's conditions need is read off its config."""

import gzip
from pathlib import Path
from typing import Any

from fieldwork.config.needs import SMALL, Need, are_small
from fieldwork.config.settings import check_config
from fieldwork.config.study_needs import needs_of
from unit.shipped_config import shipped_config

HOME = Path(__file__).resolve().parents[3]


def needs(**changes: Any) -> list[Need]:
    config: dict[str, Any] = shipped_config()
    for section, entries in changes.items():
        for name, entry in entries.items():
            known = config[section].get(name)
            config[section][name] = {**known, **entry} if isinstance(known, dict) else entry
    check_config(config, "config.yaml")
    return needs_of(config)


def test_the_task_with_the_most_runs_counts_and_only_selected_ones_do() -> None:
    study = {"conditions": ["offline", "profile"], "tasks": ["probe", "mmlu_lite"]}
    (need,) = needs(
        study=study, tasks={"mmlu_lite": {"runs": 90}, "recommendations": {"runs": 500}}
    )
    assert (need.n_needed, need.task) == (90, "mmlu_lite")


def test_users_need_as_many_conversations_as_are_drawn_of_them() -> None:
    def of(**entry: Any) -> list[Need]:
        condition = {"context": "history", "label": "L", **entry}
        return needs(study={"conditions": ["c"]}, conditions={"c": condition})

    (need,) = of(conversations=5)
    assert (need.unit, need.at_least, need.n_needed) == ("users", 5, 40)
    (need,) = of(conversations=5, out_of=8)
    assert (need.unit, need.at_least, need.n_needed) == ("users", 8, 40)
    (need,) = of(conversations=5, pool="corpus")
    assert (need.unit, need.at_least, need.n_needed) == ("conversations", 1, 200)
    (need,) = of(conversations=5, out_of=8, pool="corpus")
    assert (need.unit, need.n_needed) == ("conversations", 8)
    personas, users = of(profile="system")
    assert (personas.unit, personas.source, users.unit) == ("personas", "sample_personas", "users")


def test_small_is_what_is_in_a_file(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_bytes(b"x" * SMALL)
    assert are_small([str(plain)])
    assert not are_small([str(plain), str(HOME / "README.md")])
    packed.write_bytes(gzip.compress(b"x", 0) + b"\0" * (SMALL // 5))
    assert not are_small([str(packed)])
