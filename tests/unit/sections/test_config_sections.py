"""Every setting is described and bounded; the page of settings and the editors' schema are up to date."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from fieldwork.sections.metrics import MarginsSection
from fieldwork.sections.reference import (
    EDITOR_SCHEMA,
    HOME,
    SETTINGS_PAGE,
    editor_schema,
    settings_page,
)
from fieldwork.sections.whole import StudyConfig

SCHEMA = StudyConfig.model_json_schema()
SECTIONS = {"": SCHEMA, **SCHEMA["$defs"]}
SERVICES = ("OpenAIEntry", "GeminiEntry", "AnthropicEntry")
CACHES = ("ImplicitCache", "KeyedCache", "MarkedCache")
UNBOUNDED = {
    *("NumberForm.lowest", "NumberForm.highest", "PowerSection.field_cost_usd"),
    *(f"MarginsSection.{name}" for name in MarginsSection.model_fields),
    "BatchEntry.max_tokens",
    *(f"{entry}.requests_per_minute" for entry in (*SERVICES, *CACHES)),
    *(f"{entry}.tokens_per_minute" for entry in SERVICES),
}
"""Numbers that take neither time nor memory where they are large."""


def parts_of(rule: Any) -> list[dict[str, Any]]:
    """A rule and all rules within it."""
    inner = rule.values() if isinstance(rule, dict) else rule if isinstance(rule, list) else ()
    own = [rule] if isinstance(rule, dict) else []
    return [*own, *(one for part in inner for one in parts_of(part))]


def test_a_setting_is_described_and_its_numbers_are_bounded() -> None:
    settings = [
        (f"{section}.{name}", rule)
        for section, content in SECTIONS.items()
        for name, rule in content["properties"].items()
    ]
    assert len(settings) > 400
    for setting, rule in settings:
        parts = parts_of(rule)
        names = [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]
        assert rule.get("description") or SECTIONS[names[0]]["description"], setting
        numbers = [part for part in parts if part.get("type") in ("integer", "number")]
        if setting not in UNBOUNDED:
            assert all({"maximum", "exclusiveMaximum"} & {*part} for part in numbers), setting


@pytest.mark.parametrize(
    ("path", "content"),
    [(EDITOR_SCHEMA, editor_schema()), (SETTINGS_PAGE, settings_page())],
    ids=["schema", "page"],
)
def test_what_is_made_of_the_sections_is_up_to_date(path: Path, content: str) -> None:
    assert path.read_text(encoding="utf-8") == content, (
        "run: cd workflow/scripts && python -m fieldwork.sections.reference"
    )


def test_editors_take_every_shipped_study() -> None:
    validator = Draft202012Validator(json.loads(editor_schema()))
    for file in [HOME / "config.yaml", *sorted((HOME / "studies").glob("*.yaml"))]:
        # days are texts to JSON
        text = json.dumps(yaml.safe_load(file.read_text(encoding="utf-8")), default=str)
        assert not [*validator.iter_errors(json.loads(text))], file
        assert [*validator.iter_errors(json.loads(text) | {"stdy": 1})]
