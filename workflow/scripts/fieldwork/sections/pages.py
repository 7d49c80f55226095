"""Figures, the study's page and its archive."""

from typing import Literal

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Text
from fieldwork.sections.field import StorageProject


class FiguresSection(ConfigSection):
    """The task that each figure draws.

    auto takes the first of study.tasks that suits it; null draws none. The kinds of a task's
    questions are those that its sources declare.
    """

    fig1: str | None = Field("auto", description="A task of lists, auto or null.")
    fig2: str | None = Field(
        "auto",
        description=(
            "A task of choices or scales, of which the first six are drawn; auto takes chosen choices "
            "before scales and before a whole benchmark. Or null."
        ),
    )
    fig3: str | None = Field(
        "auto",
        description=(
            "A task of choices with a right option; auto takes one with a leaderboard before one "
            "without. Or null."
        ),
    )
    fig4: str | None = Field(
        "auto",
        description=(
            "A task whose options are shown that a user moves furthest; auto takes lists before "
            "choices. Or null."
        ),
    )
    fig5: str | None = Field("auto", description="A task of lists, auto or null.")
    values: str | None = Field("auto", description="A task of scales or numbers, auto or null.")
    categories: str | None = Field(
        None, description="A task of choices of many subjects; null for none."
    )


class FigureStyle(ConfigSection):
    """How figures draw a condition."""

    colour: str | None = Field(
        None,
        pattern=r"^#[0-9A-Fa-f]{6}$",
        description='As in "#0072B2", in quotes; null for its own.',
    )
    marker: (
        Literal["o", "s", "D", "d", "^", "v", "<", ">", "P", "X", "p", "H", "*", "8", "x", "+"]
        | None
    ) = Field(
        None,
        description=(
            "A marker of matplotlib: a circle, square, diamond, triangle, plus or cross; null for its "
            "own."
        ),
    )
    filled: bool = Field(True, description="Whether the marker is filled.")


class ExplorerSection(ConfigSection):
    """The study's page, results/{study}/explorer, with the answers behind every number
    (docs/explorer.md).
    """

    contexts: Literal["auto", "full", "ids", "none"] = Field(
        "auto",
        description=(
            "What the page holds of conversations and profiles. full has their texts, ids only the ids "
            "of conversations, none neither. auto is full where all of them come with the workflow, "
            "else ids."
        ),
    )
    field: bool = Field(
        False,
        description=(
            "Whether the page holds answers of real users, masked, and the files of `snakemake export` "
            "how they were read. Ask for their consent first."
        ),
    )


class _ArchiveStorage(StorageProject):
    """The OSF project that `snakemake upload_archive` sends the archive to. Null for none."""

    folder: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9 ._-]*(/[A-Za-z0-9_-][A-Za-z0-9 ._-]*)*\Z",
        description=(
            "Folder of its OSF Storage, made where it is missing; null takes the study's name."
        ),
    )
    form: Literal["zip", "files"] = Field(
        "zip",
        description=(
            "What is sent. zip is the archive in one file, beside its README and its lists of licences "
            "and of what is left out. files is every file of it by itself, which OSF can show and which "
            "takes longer."
        ),
    )


class ArchiveSection(ConfigSection):
    """The study as one archive, results/{study}/archive, and the OSF project that it is sent to
    (docs/archive.md).
    """

    license: Text | None = Field(
        None,
        description=(
            "Licence under which you give the study's own tables, figures and answers away, best by its "
            "SPDX id such as CC-BY-4.0. Null says that you chose none."
        ),
    )
    texts: dict[str, bool] = Field(
        {},
        description=(
            "Whether texts of an entry of corpora, datasets or recordings are in the archive, by the "
            "entry's name. Entries that are not named here go by their `license`."
        ),
    )
    replies: bool = Field(
        True,
        description=(
            "Whether the raw replies of the models are in it, a ledger for each model. Without them the "
            "tables are made again from the answers alone."
        ),
    )
    field: bool = Field(
        False,
        description=(
            "Whether the masked answers of real users and their groups are in it. Ask for their consent "
            "first. Raw answers and the keys of pseudonyms never are."
        ),
    )
    osf: _ArchiveStorage | None = None


class ArchivedSection(ConfigSection):
    """Stands in the study.yaml of an archive, and in no study of your own.

    A study with it asks no model and begins no wave: answers come from the archive alone.
    """

    left_out: list[str] = Field(
        [],
        description=(
            "Paths in this config whose files the archive left out. The tables that were made of them "
            "are there."
        ),
    )
