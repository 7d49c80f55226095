"""What sections of the config are made of: their form, and types that several of them use.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from typing_extensions import TypedDict

T = TypeVar("T")


class ConfigSection(BaseModel):
    """A part of the config: its settings, each with its type, default, bounds and description.

    Attributes:
        fills: whether settings that a user leaves out get their defaults.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        # the whole config is built at once, as its first validation
        defer_build=True,
        # Rust's knows neither \Z nor what stands ahead
        regex_engine="python-re",
        allow_inf_nan=False,
    )
    fills: ClassVar[bool] = True

    @classmethod
    def part_of(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Of the settings of a section, those that this one has: what a job that takes it depends on."""
        return {name: settings[name] for name in cls.model_fields if name in settings}

    def defaults(self) -> dict[str, Any]:
        """The settings that were left out, as they are then."""
        return self.model_dump(exclude=self.model_fields_set) if self.fills else {}


class ColumnRoles:
    """Columns by what they hold: a mapping of those that a user names.

    Args:
        name: of the mapping.
        values: what the name of a column may be.
        roles: what columns hold, each with a sentence.
        special_roles: those whose columns may be something else.
    """

    def __init__(
        self, name: str, values: Any, roles: Mapping[str, str], **special_roles: Any
    ) -> None:
        plain = {role: Annotated[values, Field(description=text)] for role, text in roles.items()}
        self.form: Any = TypedDict(name, special_roles | plain, total=False)  # type: ignore[misc]

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.form)


def unsaid(**rules: Any) -> Any:
    """A setting without a default: where a user leaves it out, the filled config has none either."""
    return Field(
        default=None,
        # what no user said is in no dump
        exclude_if=_is_none,
        json_schema_extra=_drop_default,
        **rules,
    )


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _is_none(value: Any) -> bool:
    return value is None


def _refuse_repeats(values: list[Any]) -> list[Any]:
    for number, value in enumerate(values):
        if value in values[:number]:
            raise PydanticCustomError(
                "repeat", "{value} stands twice; remove one", {"value": repr(value)}
            )
    return values


def _require_day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("day", "{day} is not a 'date'", {"day": repr(text)}) from None
    return text


Day = Annotated[str, AfterValidator(_require_day), Field(json_schema_extra={"format": "date"})]
Distinct = Annotated[
    list[T], AfterValidator(_refuse_repeats), Field(json_schema_extra={"uniqueItems": True})
]
Selection = Annotated[Distinct[str], Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], Field(min_length=1)]
Words = Annotated[str, Field(pattern=r"\S")]
Line = Annotated[
    str,
    Field(
        pattern=(r"^(?=.*[^\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])[^\x00-\x1f\x7f]*\Z")
    ),
]
Name = Annotated[
    str,
    Field(
        pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
        description="Letters, digits, dot, dash and underscore, as it becomes part of file names.",
    ),
]
Address = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?\Z")]
VariableName = Annotated[
    str,
    Field(
        pattern=r"^[A-Z_][A-Z0-9_]{0,63}\Z",
        description="Name of a variable, in capital letters, digits and underscores.",
    ),
]
HeaderName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_-]+\Z", description="Letters, digits, dash and underscore."),
]
HeaderValue = Annotated[
    str, Field(pattern=r"^[^\x00-\x1f\x7f]*\Z", description="One line of text.")
]
PackageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z")]
OsfNode = Annotated[str, Field(pattern="^[A-Za-z0-9]{3,32}$")]
Option = Text | Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
_Cell = str | bool | Annotated[float, Field(ge=-1e15, le=1e15)] | None
RowRule = dict[
    str,
    Annotated[
        _Cell | list[_Cell],
        Field(description="A value of the column, a list of them, or null for an empty cell."),
    ],
]
