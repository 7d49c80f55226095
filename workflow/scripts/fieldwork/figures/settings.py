"""What a study decides about its figures; each figure adds what is its own.

Every figure module has a function `draw(table, …, settings)`: the tables that it draws, in the order of
its signature, then its settings. The settings are `FigureSettings` or a class of the figure's own that
extends it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSettings:
    """Settings that all figures share."""

    conditions: Sequence[str]
    """Conditions to draw, in their order; those without a row are left out."""
    model_labels: Mapping[str, str] = field(default_factory=dict)
    """Printed name of each model; its order is the order of the models."""
    condition_labels: Mapping[str, str] = field(default_factory=dict)
    """Printed names of conditions; they replace the names of `style.condition_styles`."""
    styles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of conditions: `colour` and `marker`, None for those of `style.condition_styles`, and `filled`."""
    note: str | None = None
    """Printed at the head of the figure."""
    task: str | None = None
    """The task to draw; None for all tasks of the table."""
    baseline: str = "offline"
    """The condition that the others are compared with."""
    questions: Mapping[ItemKey, Item] = field(default_factory=dict)
    """The items of the study; an item that is missing here is printed with its id."""

    def model_name(self, model: str) -> str:
        """The printed name of a model."""
        return self.model_labels.get(model, model)
