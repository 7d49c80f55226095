"""Entries of `models` that are on this machine or recorded, a class for each provider."""

from typing import Annotated, Literal

from pydantic import Field

from fieldwork.sections.base import (
    ConfigSection,
    Distinct,
    Line,
    PackageName,
    Text,
)
from fieldwork.sections.model_entry import ModelEntry


class EmbeddedEntry(ModelEntry):
    """A model of this machine that chooses by the likeness of texts."""

    provider: Literal["embedded"] = Field(description="What kind of interface it has.")
    encoder: str = Field(examples=["all-MiniLM-L6-v2"], description="Sentence encoder.")
    sharpness: float = Field(
        40,
        le=100_000,
        gt=0,
        description="Inverse temperature of the softmax over cosines at T = 1.",
    )
    context_weight: float = Field(
        0.3, ge=0, le=1, description="Share of the context in the query vector."
    )


class Decoding(ConfigSection):
    """How an answer is written."""

    grammar: Literal["none", "five_lines", "candidates"] = Field(
        "none",
        description=(
            "What lists are held to. none leaves the text free, five_lines wants numbered lines of free "
            "text, candidates wants numbered lines that name candidate answers, none twice."
        ),
    )
    min_p: float = Field(
        0,
        ge=0,
        le=1,
        description=(
            "Tokens below this share of the best token's probability are not drawn, 0 to 1."
        ),
    )


class LocalChatEntry(ModelEntry):
    """A chat model on this machine."""

    provider: Literal["local_chat"] = Field(description="What kind of interface it has.")
    package: PackageName | None = Field(
        None,
        description=(
            "An installed package that carries the model as one GGUF file. One of package, parts, path "
            "and repo."
        ),
    )
    parts: Distinct[PackageName] | None = Field(
        None,
        min_length=1,
        description=(
            "Installed packages that carry the parts of one GGUF file, a .bin file each, in this order. "
            "It needs the sha256 of the whole."
        ),
    )
    path: Text | None = Field(
        None, description="A GGUF file, or a folder with a model of transformers."
    )
    repo: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+\Z",
        description="Repository of the hub, owner/name. It needs a revision.",
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}\Z",
        description="Commit of the repository, 40 hexadecimal digits.",
    )
    sha256: str | None = Field(
        None,
        pattern=r"^[0-9a-fA-F]{64}\Z",
        description="What the file of package, parts or path must hash to; null takes any file.",
    )
    decoding: Decoding = Field(default_factory=Decoding)
    choices: Literal["letter", "likelihood"] = Field(
        "letter",
        description=(
            "How questions with options are answered, by a letter that the model writes, or by the "
            "likelihood of each option's text (docs/models.md)."
        ),
    )
    workers: Literal["auto"] | Annotated[int, Field(ge=1, le=1024)] = Field(
        "auto",
        description=(
            "Processes that answer, with one thread each. auto takes one a core, or as many as memory "
            "holds. A GPU has one. The number changes no answer."
        ),
    )


class RecordedEntry(ModelEntry):
    """A model whose answers were recorded elsewhere."""

    provider: Literal["recorded"] = Field(description="What kind of interface it has.")
    note: Line | None = Field(
        "Answers were recorded elsewhere; this study sent no calls",
        description="Sentence printed on figures, in one line.",
    )
    recording: str = Field(description="Entry of `recordings`.")
    recorded_as: str | None = Field(
        None, description="What the recording calls this model; null where it has one model only."
    )
