"""A config held to its schema: defaults filled in, and the one sentence on what does not fit.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError

Config = dict[str, Any]

UNREPEATED = frozenset({"api_key_env", "token_env", "base_url", "proxy", "headers", "headers_env"})
"""Settings whose values no message repeats: a secret may have been pasted there."""


def fill(config: Config, schema: Path) -> str | None:
    """Fill the schema's defaults into `config`, in place.

    Returns:
        What does not fit the schema, beginning with the setting; None where all does.
    """
    rules = _rules(schema)
    _write_dates_as_text(config)
    checker = _filling_validator()(rules, format_checker=FormatChecker())
    error = _plainest(checker.iter_errors(config))
    return None if error is None else _sentence(error, rules)


@cache
def _rules(schema: Path) -> Config:
    rules: Config = yaml.safe_load(schema.read_text(encoding="utf-8"))
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
        if another := _of_another_kind(instance, properties):
            # what lies deeper would be filled with this alternative's defaults
            yield from check_properties(validator, another, instance, schema)
            return
        problems = list(check_properties(validator, properties, instance, schema))
        # an alternative of a oneOf that does not hold must leave the instance alone
        if isinstance(instance, dict) and not problems and _belongs(instance, properties):
            for name, rule in properties.items():
                resolved = _resolved(validator, rule)
                if "default" in resolved:
                    # a copy, or all places would share one list
                    instance.setdefault(name, copy.deepcopy(resolved["default"]))
            problems = list(check_properties(validator, properties, instance, schema))
        yield from problems

    extend: Any = validators.extend
    # for JSON 3.0 is an integer, for what counts by it in Python it is none
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    return extend(Draft202012Validator, {"properties": fill_and_check}, type_checker=types)


def _of_another_kind(instance: Any, properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties whose one allowed value the instance does not have."""
    given = instance if isinstance(instance, dict) else {}
    return {
        name: rule
        for name, rule in properties.items()
        if "const" in rule and name in given and given[name] != rule["const"]
    }


def _belongs(instance: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    return set(instance) <= set(properties)


def _resolved(validator: Any, rule: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in rule:
        target: Mapping[str, Any] = validator._resolver.lookup(rule["$ref"]).contents
        return {**target, **rule}
    return rule


def _plainest(errors: Iterable[ValidationError]) -> ValidationError | None:
    """The error a user should see first: of alternatives, those of the one that was meant."""
    first = min(errors, key=_reading_order, default=None)
    while first is not None and first.context:
        chosen = min(first.context, key=_wrongness)
        meant = [e for e in first.context if e.schema_path[0] == chosen.schema_path[0]]
        first = min(meant, key=lambda error: len(error.absolute_path))
    return first


def _reading_order(error: ValidationError) -> tuple[bool, list[str]]:
    return (error.validator == "oneOf", [str(part) for part in error.absolute_path])


def _wrongness(error: ValidationError) -> tuple[bool, int]:
    # an alternative whose `provider` or `context` is another one was not meant
    siblings = error.parent.context if error.parent else []
    alternative = error.schema_path[0]
    other = any(
        e.schema_path[0] == alternative and e.validator in ("const", "enum") and len(e.path) == 1
        for e in siblings
        if e.path and e.path[-1] in ("provider", "context")
    )
    return (other, int(alternative))


def _sentence(error: ValidationError, rules: Config) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        rule: Config = error.schema if isinstance(error.schema, dict) else {}
        shared = rules["$defs"].get(rule.get("$ref", "").removeprefix("#/$defs/"), {})
        known = {*rule.get("properties", {}), *shared.get("properties", {})}
        instance: Config = error.instance if isinstance(error.instance, dict) else {}
        unknown = sorted(str(key) for key in instance if key not in known)
        place = f"{where}: " if where else ""
        allowed = f"; known here: {', '.join(sorted(known))}" if known else ""
        return f"{place}unknown key {unknown[0]!r}{allowed}"
    described = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    hint = f" ({described.rstrip('.')})" if described else ""
    is_name = "propertyNames" in error.absolute_schema_path
    if not is_name and UNREPEATED & {str(part) for part in error.absolute_path}:
        return f"{where}: the value does not fit{hint}"
    if error.validator == "pattern":
        return f"{where}: {error.instance!r} does not fit{hint}"
    return f"{where or 'the config'}: {_plain(error)}{hint}"


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
        return f"{instance!r} is not {' or '.join(_TYPES[name] for name in types)}"
    if error.validator == "minItems" and not instance:
        return "the list is empty; name at least one"
    if error.validator == "uniqueItems":
        twice = next(one for number, one in enumerate(instance) if one in instance[:number])
        return f"{twice!r} stands twice; remove one"
    return error.message
