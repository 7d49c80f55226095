"""The entries of studies/gateways.yaml, as a study has them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fieldwork.config.layers import lay_over
from fieldwork.config.registries import shipped_files
from fieldwork.config.settings import check_config

HOME = Path(__file__).resolve().parents[4]
STUDY = "studies/gateways.yaml"


@cache
def gateway_entries() -> Mapping[str, dict[str, Any]]:
    """By name, with their defaults."""
    config = lay_over([HOME / STUDY], {}, shipped_files=shipped_files(HOME)).settings
    check_config(config, STUDY)
    names = yaml.safe_load((HOME / STUDY).read_text(encoding="utf-8"))["models"]
    return {name: config["models"][name] for name in names}
