"""What pydantic says of a config, in the words of people who write YAML: one sentence, with its setting.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from fieldwork.sections.base import ColumnRoles, ConfigSection
from fieldwork.sections.whole import StudyConfig

SECRET_SETTINGS = frozenset(
    {"api_key_env", "token_env", "base_url", "proxy", "headers", "headers_env"}
)
"""Settings whose values no message repeats: a secret may have been pasted there."""

_TYPES = {
    list: "a list [a, b]",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a mapping (key: value)",
    str: "a text",
    NoneType: "null",
}

_SENTENCES = {
    "greater_than_equal": "{value!r} is less than the minimum of {ge:.15g}",
    "less_than_equal": "{value!r} is greater than the maximum of {le:.15g}",
    "greater_than": "{value!r} is less than or equal to the minimum of {gt:.15g}",
    "less_than": "{value!r} is greater than or equal to the maximum of {lt:.15g}",
    "too_long": "{value!r} is too long",
    "string_too_long": "{value!r} is too long",
    "too_short": "{value!r} is too short",
    "finite_number": "{value!r} is no finite number",
}
"""What we say of a value, by pydantic's type of the error."""


class _Place(NamedTuple):
    """Where a value stands in the config, and what may stand there.

    Attributes:
        path: its keys.
        annotation: the type of the setting.
        hint: what the setting is, for users; empty where nothing says it.
        is_name: whether the key itself is what does not fit.
    """

    path: tuple[Any, ...] = ()
    annotation: Any = StudyConfig
    hint: str = ""
    is_name: bool = False


class _Mistake(NamedTuple):
    """A sentence, after what says how early a user should see it."""

    path: list[str]
    rank: int
    key: str
    sentence: str


_OF_KEYS, _OF_VALUES, _OF_TYPES = range(3)


def plainest_mistake(error: ValidationError, config: Any) -> str:
    """The mistake a user should see first: in the order of settings, and of the first alternative."""
    mistakes = [_mistake(details, config) for details in error.errors(include_url=False)]

    def goes_deeper(mistake: _Mistake) -> bool:
        # of a text or a list of texts: a list with a wrong entry is no wrong type
        paths = [one.path for one in mistakes if len(one.path) > len(mistake.path)]
        return any(path[: len(mistake.path)] == mistake.path for path in paths)

    first = min(
        (one for one in mistakes if one.rank != _OF_TYPES or not goes_deeper(one)),
        key=lambda one: one[:3],
    )
    return first.sentence


def _mistake(details: Any, config: Any) -> _Mistake:
    kind, location, value = details["type"], details["loc"], details["input"]
    if kind in ("extra_forbidden", "invalid_key"):
        place = _place_of(location[:-1], config)
        sentence = f"{_label(place)}unknown key {str(location[-1])!r}{_known_keys(place)}"
        return _mistake_at(place, _OF_KEYS, sentence, str(location[-1]))
    if kind == "missing":
        return _missing(_place_of(location[:-1], config), location[-1])
    if kind == "union_tag_not_found":
        return _missing(_place_of(location, config), _discriminator(details))
    if kind == "union_tag_invalid":
        location = (*location, _discriminator(details))
        value = value[location[-1]]
    place = _place_of(location, config)
    hint = _in_brackets(place.hint)
    if SECRET_SETTINGS & {*place.path} and not place.is_name:
        sentence = f"the value does not fit{hint}"
    elif kind == "string_pattern_mismatch":
        sentence = f"{value!r} does not fit{hint}"
    else:
        sentence = f"{_plain(kind, value, place.annotation, details)}{hint}"
    rank = _OF_TYPES if kind.endswith("_type") else _OF_VALUES
    return _mistake_at(place, rank, (_label(place) or "the config: ") + sentence)


def _mistake_at(place: _Place, rank: int, sentence: str, key: str = "") -> _Mistake:
    return _Mistake([*map(str, place.path)], rank, key, sentence)


def _missing(place: _Place, key: str) -> _Mistake:
    label, sections = _label(place) or "the config: ", _sections(place.annotation)
    fields = [_fields(one)[key] for one in sections if key in _fields(one)]
    sentence = f"{label}{key!r} is a required property; {_line_to_add(key, fields)}"
    # after every unknown key, which may be the one that is missing, misspelt
    return _mistake_at(place, _OF_KEYS, sentence, "\U0010ffff")


def _line_to_add(key: str, fields: Sequence[FieldInfo]) -> str:
    """The way out where a setting is missing: an example, where its section has one, or what it may be.

    Args:
        fields: the setting in every section that may stand there.
    """
    values = [value for field in fields for value in field.examples or get_args(field.annotation)]
    hint = _in_brackets(next(filter(None, map(_said_of, fields)), ""))
    if not all(isinstance(value, str | int | float) for value in values) or not values:
        names = _type_names(fields[0].annotation)
        return f"add the line `{key}:` there, with {names}{hint}"
    alternatives = ", ".join(map(str, values[1:]))
    rest = f", or {'one of ' if values[2:] else ''}{alternatives}" if alternatives else ""
    return f"add the line `{key}: {values[0]}` there{rest}{hint}"


def _label(place: _Place) -> str:
    return ".".join(map(str, place.path)) + ": " if place.path else ""


def _in_brackets(hint: str) -> str:
    return f" ({hint})" if hint else ""


def _known_keys(place: _Place) -> str:
    names = sorted(chain.from_iterable(map(_fields, _sections(place.annotation))))
    return f"; known here: {', '.join(names)}" if names else ""


def _discriminator(details: Any) -> str:
    return str(details["ctx"]["discriminator"].strip("'"))


# ---- the place of a mistake ----------------------------------------------------------------------


def _place_of(location: tuple[Any, ...], config: Any) -> _Place:
    """The place at the end of pydantic's way there, which names alternatives between the keys."""
    place, value = _Place(), config
    for key in location:
        if key == "[key]":
            around = _place_of(location[:-2], config)
            name_type = next(get_args(one)[0] for one in _alternatives(around.annotation))
            return around._replace(annotation=name_type, hint=_hint_of(name_type), is_name=True)
        with_tag = [one for one in _sections(place.annotation) if key in _names_of(one)]
        if with_tag and len(_alternatives(place.annotation)) > 1:
            place = place._replace(annotation=with_tag[0])
            continue
        for one in _alternatives(place.annotation):
            inner = _inside(one, key, value)
            if inner is not None:
                place = inner._replace(path=(*place.path, key))
                value = value.get(key) if isinstance(value, dict) else value[key]
                break
    return place


def _inside(annotation: Any, key: Any, value: Any) -> _Place | None:
    """The place of a key within a value of this type; None where the key is the name of a type."""
    if _is_section(annotation):
        field = _fields(annotation).get(key)
        if field is None:
            return None
        forms = (one.form for one in field.metadata if isinstance(one, ColumnRoles))
        return _Place(annotation=next(forms, field.annotation), hint=_said_of(field))
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict and isinstance(value, dict) and key in value:
        return _Place(annotation=arguments[1], hint=_hint_of(arguments[1]))
    if origin is list and isinstance(value, list) and isinstance(key, int):
        return _Place(annotation=arguments[0], hint=_hint_of(arguments[0]))
    return None


def _alternatives(annotation: Any) -> list[Any]:
    """The types that a value may have, null among them."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [*chain.from_iterable(map(_alternatives, get_args(annotation)))]
    return [annotation]


def _is_section(annotation: Any) -> bool:
    is_class = isinstance(annotation, type) and issubclass(annotation, ConfigSection)
    return is_class or is_typeddict(annotation)


def _fields(section: Any) -> Mapping[str, FieldInfo]:
    """The settings of a section, or the columns of a mapping of some."""
    if hasattr(section, "model_fields"):
        fields: Mapping[str, FieldInfo] = section.model_fields
        return fields
    hints = get_type_hints(section, include_extras=True)
    return {name: FieldInfo.from_annotation(hint) for name, hint in hints.items()}


def _sections(annotation: Any) -> list[Any]:
    return [one for one in _alternatives(annotation) if _is_section(one)]


def _names_of(section: Any) -> set[Any]:
    """By what pydantic names an alternative: its class, or the kinds that it is for."""
    kinds = [field for field in _fields(section).values() if field.is_required()]
    return {section.__name__, *chain.from_iterable(get_args(field.annotation) for field in kinds)}


def _said_of(field: FieldInfo) -> str:
    sections = _sections(field.annotation)
    return _one_line(field.description or (sections[0].__doc__ if sections else ""))


def _hint_of(annotation: Any) -> str:
    parts = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    texts = [part.description for part in parts if isinstance(part, FieldInfo)]
    return _one_line(next(filter(None, texts), ""))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split()).rstrip(".")


# ---- what is wrong -------------------------------------------------------------------------------


def _plain(kind: str, value: Any, annotation: Any, details: Any) -> str:
    """What is wrong with a value, in the words of people who write YAML."""
    if kind == "union_tag_invalid":
        return f"{value!r} is not one of [{details['ctx']['expected_tags']}]"
    if kind == "literal_error":
        return _not_among(value, annotation)
    if kind.endswith("_type"):
        return _not_of_type(value, annotation)
    if kind.endswith("too_short") and not value:
        is_list = isinstance(value, list)
        return (
            "the list is empty; name at least one" if is_list else f"{value!r} should be non-empty"
        )
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(value=value, **details.get("ctx", {}))
    return str(details["msg"])


def _not_among(value: Any, annotation: Any) -> str:
    alternatives = _alternatives(annotation)
    values = [*next(get_args(one) for one in alternatives if get_origin(one) is Literal)]
    values += [None] if NoneType in alternatives else []
    return (
        f"{values[0]!r} was expected" if len(values) == 1 else f"{value!r} is not one of {values}"
    )


def _not_of_type(value: Any, annotation: Any) -> str:
    names = _type_names(annotation)
    if isinstance(value, bool) and _TYPES[str] in names:
        return f"YAML reads this Yes or No as {value!r}, which is not {names}; put it in quotes"
    return f"{value!r} is not {names}"


def _type_names(annotation: Any) -> str:
    """What a setting may be, in words."""
    types = [
        dict if _is_section(one) else get_origin(one) or one for one in _alternatives(annotation)
    ]
    return " or ".join(dict.fromkeys(_TYPES[one] for one in types if one in _TYPES))
