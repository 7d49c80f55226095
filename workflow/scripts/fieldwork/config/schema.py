"""A config held to its schema: defaults filled in, and the one sentence on what does not fit.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError

Config = dict[str, Any]

SECRET_SETTINGS = frozenset(
    {"api_key_env", "token_env", "base_url", "proxy", "headers", "headers_env"}
)
"""Settings whose values no message repeats: a secret may have been pasted there."""


def fill(config: Config, schema: Path, measures: Sequence[str] = ()) -> str | None:
    """Fill the schema's defaults into `config`, in place.

    Args:
        measures: declared measures, which primary comparisons may name too.

    Returns:
        What does not fit the schema, beginning with the setting; None where all does.
    """
    rules = _rules(schema, tuple(measures))
    _write_dates_as_text(config)
    checker = _filling_validator()(rules, format_checker=FormatChecker())
    error = _plainest(checker.iter_errors(config))
    return None if error is None else _sentence(error, rules)


@cache
def _rules(schema: Path, measures: Sequence[str]) -> Config:
    # libyaml's reader is many times faster, and every start reads the schema
    rules: Config = yaml.load(schema.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    primary = rules["properties"]["study"]["properties"]["primary"]
    names = primary["items"]["properties"]["measure"]["enum"]
    names += [name for name in measures if name not in names]
    return rules


def _write_dates_as_text(value: Any) -> None:
    # YAML turns an unquoted 2023-05-01 into a date, which a JSON schema has no type for
    pairs = value.items() if isinstance(value, dict) else ()
    for key, inner in [*pairs, *(enumerate(value) if isinstance(value, list) else ())]:
        if isinstance(inner, date):
            value[key] = inner.isoformat()
        else:
            _write_dates_as_text(inner)


def _filling_validator() -> Any:
    """A validator that puts a property's default where the property is absent."""
    check_properties = Draft202012Validator.VALIDATORS["properties"]

    def fill_and_check(
        validator: Any, properties: Mapping[str, Any], instance: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        for name, rule in properties.items() if isinstance(instance, dict) else ():
            property_rule = _resolve(validator, rule)
            if "default" in property_rule:
                # a copy, or all places would share one list
                instance.setdefault(name, copy.deepcopy(property_rule["default"]))
        yield from check_properties(validator, properties, instance, schema)

    extend: Any = validators.extend
    # for JSON 3.0 is an integer, for what counts by it in Python it is none
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    return extend(Draft202012Validator, {"properties": fill_and_check}, type_checker=types)


def _resolve(validator: Any, rule: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in rule:
        target: Mapping[str, Any] = validator._resolver.lookup(rule["$ref"]).contents
        return {**target, **rule}
    return rule


def _plainest(errors: Iterable[ValidationError]) -> ValidationError | None:
    """The error a user should see first: in the order of settings, and of the first alternative."""
    first = min(errors, key=lambda error: [*map(str, error.absolute_path)], default=None)
    while first is not None and first.context:
        first = first.context[0]
    return first


def _sentence(error: ValidationError, rules: Config) -> str:
    setting = ".".join(str(part) for part in error.absolute_path)
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        rule: Config = error.schema if isinstance(error.schema, dict) else {}
        definition = rules["$defs"].get(rule.get("$ref", "").removeprefix("#/$defs/"), {})
        names = {*rule.get("properties", {}), *definition.get("properties", {})}
        instance: Config = error.instance if isinstance(error.instance, dict) else {}
        unknown_keys = sorted(str(key) for key in instance if key not in names)
        place = f"{setting}: " if setting else ""
        names_text = f"; known here: {', '.join(sorted(names))}" if names else ""
        return f"{place}unknown key {unknown_keys[0]!r}{names_text}"
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    hint = f" ({description.rstrip('.')})" if description else ""
    is_name = "propertyNames" in error.absolute_schema_path
    if not is_name and SECRET_SETTINGS & {str(part) for part in error.absolute_path}:
        return f"{setting}: the value does not fit{hint}"
    if error.validator == "pattern":
        return f"{setting}: {error.instance!r} does not fit{hint}"
    return f"{setting or 'the config'}: {_plain(error)}{hint}"


_TYPES = {
    "array": "a list [a, b]",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping (key: value)",
    "string": "a text",
}


def _plain(error: ValidationError) -> str:
    """What is wrong, in the words of people who write YAML."""
    instance: Any = error.instance
    rule: Any = error.validator_value
    if error.validator == "type":
        types = [rule] if isinstance(rule, str) else list(rule)
        names = " or ".join(_TYPES[name] for name in types)
        if isinstance(instance, bool) and "string" in types:
            return (
                f"YAML reads this Yes or No as {instance!r}, which is not {names}; put it in quotes"
            )
        return f"{instance!r} is not {names}"
    if error.validator == "minItems" and not instance:
        return "the list is empty; name at least one"
    if error.validator == "uniqueItems":
        twice = next(one for number, one in enumerate(instance) if one in instance[:number])
        return f"{twice!r} stands twice; remove one"
    return error.message
