"""What is made of the sections: the page of all settings, and the JSON schema by which editors complete.

`cd workflow/scripts && python -m fieldwork.sections.reference` writes both, docs/settings.md and
workflow/schemas/config.schema.json.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fieldwork.sections.whole import StudyConfig

Rule = Mapping[str, Any]

HOME = Path(__file__).resolve().parents[4]
EDITOR_SCHEMA = HOME / "workflow" / "schemas" / "config.schema.json"
SETTINGS_PAGE = HOME / "docs" / "settings.md"

# ---- for editors ---------------------------------------------------------------------------------


def editor_schema() -> str:
    """The JSON schema of a study file, which says only what differs from the config below it.

    So nothing is required in it, and an entry may leave out the kind that its other settings follow from.
    A section is a line, as differences of versions are read by lines.
    """
    schema = _for_overlays(StudyConfig.model_json_schema())
    sections = ",\n".join(f'"{name}": {json.dumps(rule)}' for name, rule in schema["$defs"].items())
    whole = json.dumps({key: rule for key, rule in schema.items() if key != "$defs"})
    text = f'{whole[:-1]}, "$defs": {{\n{sections}\n}}}}\n'
    # JavaScript has another sign for the end of a text
    return text.replace(r"\\Z", "$")


def _for_overlays(rule: Any) -> Any:
    if isinstance(rule, list):
        return [_for_overlays(part) for part in rule]
    if not isinstance(rule, dict):
        return rule
    # without the kind an entry fits several kinds
    names = {"oneOf": "anyOf"}
    unused = {"discriminator": dict, "required": list, "title": str}
    return {
        names.get(key, key): _for_overlays(part)
        for key, part in rule.items()
        if not (key in unused and isinstance(part, unused[key]))
    }


# ---- for people ----------------------------------------------------------------------------------

_HEAD = """# Every setting

Written from the sections that check a config: `cd workflow/scripts && python -m
fieldwork.sections.reference`. A study file says what differs from `config.yaml` and from the
registries in `workflow/registry`. A setting without a default has no value where no file has one; `*`
stands for a name of your choice. Editors complete settings where a file begins with
`# yaml-language-server: $schema=../workflow/schemas/config.schema.json`.
"""

_TYPES = {
    "array": "list",
    "boolean": "true or false",
    "integer": "whole number",
    "null": "null",
    "number": "number",
    "object": "mapping",
    "string": "text",
}

_BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "exclusiveMaximum": "below {}",
}


def settings_page() -> str:
    """All settings in Markdown, a heading for each section at its place in the config."""
    schema = StudyConfig.model_json_schema()
    shared = schema["$defs"]
    parts = [_HEAD]
    for name, rule in schema["properties"].items():
        text = rule.get("description")
        parts += [f"## {name}\n", *([f"{text}\n"] if text else [])]
        parts += [_table(place, one) for place, one in _sections(name, rule, shared, set())]
    return "\n".join(parts)


def _sections(
    place: str, rule: Rule, shared: Mapping[str, Rule], seen: set[str]
) -> Iterator[tuple[str, Rule]]:
    """The sections at and below a place of the config, each once, with its own place."""
    for part in (rule, *rule.get("anyOf", ()), *rule.get("oneOf", ())):
        name = part.get("$ref", "").rpartition("/")[2]
        if name and name not in seen:
            seen.add(name)
            yield place, shared[name]
            for key, inner in shared[name]["properties"].items():
                yield from _sections(f"{place}.{key}", inner, shared, seen)
        below = [part.get("additionalProperties"), *part.get("patternProperties", {}).values()]
        for inner in (*below, part.get("items")):
            if isinstance(inner, dict):
                yield from _sections(f"{place}.*", inner, shared, seen)


def _table(place: str, section: Rule) -> str:
    heading = f"### {place}\n\n" if "." in place else ""
    lines = ["| setting | values | default | |", "|---|---|---|---|"]
    for name, rule in section["properties"].items():
        default = f"`{json.dumps(rule['default'])}`" if "default" in rule else ""
        cells = (f"`{name}`", _values(rule), default, rule.get("description", ""))
        lines.append(
            "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
        )
    text = " ".join(section.get("description", "").split())
    return (
        "\n".join([f"{heading}{text}\n", *lines, ""]) if text else heading + "\n".join(lines) + "\n"
    )


def _values(rule: Rule) -> str:
    """What a setting may be, in a few words."""
    alternatives = rule.get("anyOf") or rule.get("oneOf")
    if alternatives:
        return " or ".join(dict.fromkeys(filter(None, map(_values, alternatives))))
    if "$ref" in rule:
        return "section"
    if "enum" in rule or "const" in rule:
        return ", ".join(f"`{value}`" for value in rule.get("enum") or [rule["const"]])
    bounds = [words.format(rule[key]) for key, words in _BOUNDS.items() if key in rule]
    inner = _values(rule["items"]) if rule.get("items") else ""
    kind = _TYPES.get(rule.get("type", ""), "")
    return " ".join(filter(None, [kind, *bounds, f"of {inner}" if inner else ""]))


if __name__ == "__main__":
    EDITOR_SCHEMA.write_text(editor_schema(), encoding="utf-8")
    SETTINGS_PAGE.write_text(settings_page(), encoding="utf-8")
