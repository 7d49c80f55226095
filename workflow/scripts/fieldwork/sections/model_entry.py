"""What every entry of `models` says; apart from the local ones, so that a new one asks no other anew."""

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Line


class ModelEntry(ConfigSection):
    """What every entry of models says."""

    label: Line = Field(examples=["My model"], description="Name in figures, in one line.")
    note: Line | None = Field(None, description="Sentence printed on figures, in one line.")
    limits: Line | None = Field(
        None, description="What its answers cannot stand for; a line of the findings."
    )
    leaderboard_name: str | None = Field(
        None,
        description=(
            "Name of this model on the leaderboards of the study's tasks. Its own line does not count "
            "when its places are computed."
        ),
    )
