"""Which models are asked for streams, and that the setting changes no usual call."""

from pathlib import Path
from typing import Any

from tests.unit.shipped_config import shipped_config

from fieldwork.config.arms import (
    first_token_tables,
    streaming_models,
)
from fieldwork.config.settings import check_config
from fieldwork.config.study import Study

HOME = Path(__file__).resolve().parents[3]


def study(**sizes: int) -> Study:
    """The quickstart with a model of a server for each name, and a local one."""
    config: dict[str, Any] = shipped_config()
    for name, size in sizes.items():
        config["models"][name] = {
            "provider": "openai",
            "label": name,
            "model": name,
            "base_url": "http://127.0.0.1:9/v1",
            "first_token_sample": size,
        }
    config["study"] |= {
        "models": [*sizes, "smollm2"],
        "conditions": ["offline", "history"],
        "tasks": ["probe"],
    }
    check_config(config, "config.yaml")
    return Study(config, HOME)


def test_models_with_a_sample_have_a_table_for_each_task_and_condition() -> None:
    both = study(sampled=8, plain=0)
    assert streaming_models(both) == ["sampled"]
    assert first_token_tables(both) == [
        "<results>/first_tokens/sampled/probe/offline.parquet",
        "<results>/first_tokens/sampled/probe/history.parquet",
    ]
