"""The whole config, and the JSON schema that editors read."""

from typing import Annotated

from pydantic import Field

from fieldwork.sections.asking import GenerationSection, ParsingSection, PlanSection, PriceEntry
from fieldwork.sections.base import ConfigSection, Name
from fieldwork.sections.conditions import AnyCondition
from fieldwork.sections.corpora import (
    CorpusEntry,
    DatasetEntry,
    EmbeddingSection,
    FiltersSection,
    ProfilesSection,
    RecordingEntry,
)
from fieldwork.sections.field import FieldKitSection, FieldSection
from fieldwork.sections.judging import JudgingSection
from fieldwork.sections.memory import MemorySection
from fieldwork.sections.metrics import CalibrationSection, MetricsSection
from fieldwork.sections.models import EmbeddedEntry, LocalChatEntry, RecordedEntry
from fieldwork.sections.pages import (
    ArchivedSection,
    ArchiveSection,
    ExplorerSection,
    FiguresSection,
    FigureStyle,
)
from fieldwork.sections.power import PowerSection
from fieldwork.sections.services import ServiceEntry
from fieldwork.sections.study import ArmsSection, StudySection, WavesSection
from fieldwork.sections.tasks import TaskEntry

AnyModel = Annotated[
    EmbeddedEntry | LocalChatEntry | ServiceEntry | RecordedEntry,
    Field(discriminator="provider"),
]


class StudyConfig(ConfigSection):
    """The whole config of a study, section by section."""

    study: StudySection
    field: FieldSection | None = None
    memory: MemorySection = Field(default_factory=MemorySection)
    judging: JudgingSection | None = None
    field_kit: FieldKitSection = Field(default_factory=FieldKitSection)
    models: dict[Name, AnyModel] = Field(description="Models a study can ask.")
    conditions: dict[Name, AnyCondition] = Field(description="How much of a user the model sees.")
    tasks: dict[Name, TaskEntry] = Field(description="Sets of questions.")
    corpora: dict[Name, CorpusEntry] = Field(description="Corpora of conversations.")
    datasets: dict[Name, DatasetEntry] = Field(
        description="Other data, such as persona sources and benchmarks."
    )
    recordings: dict[Name, RecordingEntry] = Field(
        {},
        description=(
            "Answers that were collected elsewhere, for models of provider recorded and for tasks of "
            "format recording (docs/recorded.md)."
        ),
    )
    filters: FiltersSection = Field(default_factory=FiltersSection)
    embedding: EmbeddingSection = Field(default_factory=EmbeddingSection)
    profiles: ProfilesSection
    generation: GenerationSection = Field(default_factory=GenerationSection)
    prices: dict[str, PriceEntry] = Field(
        {},
        description=(
            "Price table, by the model id the provider knows; a model without an entry has no cost."
        ),
    )
    plan: PlanSection = Field(default_factory=PlanSection)
    parsing: ParsingSection = Field(default_factory=ParsingSection)
    metrics: MetricsSection = Field(default_factory=MetricsSection)
    calibration: CalibrationSection = Field(default_factory=CalibrationSection)
    power: PowerSection = Field(default_factory=PowerSection)
    figures: FiguresSection = Field(default_factory=FiguresSection)
    figure_styles: dict[Name, FigureStyle] = Field(
        {},
        description=(
            "How figures draw conditions, by name; the others have colours and markers of their own."
        ),
    )
    explorer: ExplorerSection = Field(default_factory=ExplorerSection)
    archive: ArchiveSection = Field(default_factory=ArchiveSection)
    archived: ArchivedSection | None = None
    arms: ArmsSection | None = None
    waves: WavesSection | None = None
