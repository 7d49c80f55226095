"""What a study decides about its figures.

Every figure module has a function `draw(table, …, settings)`: the tables that it draws, in the order of
its signature, then these settings, of which each figure reads what it shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item


class ScaleAxis(NamedTuple):
    """A scale as raters read it.

    Attributes:
        yes_labels: labels of the options that count as accepted.
        points: labels of the options by their number, from the lowest; empty where they have no order.
    """

    yes_labels: Sequence[str] = ()
    points: Mapping[float, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSettings:
    """Settings of all figures; those of few figures have a default that changes nothing elsewhere.

    Attributes:
        conditions: to draw, in their order; those without a row are left out.
        model_labels: printed name of each model; its order is the order of the models.
        condition_labels: printed names of conditions; they replace those of `style.condition_styles`.
        styles: of conditions: `colour` and `marker`, None for those of `style.condition_styles`, and
            `filled`.
        note: printed at the head of the figure.
        task: the task to draw; None for all tasks of the table.
        baseline: the condition that the others are compared with.
        questions: the items of the study; an item that is missing here is printed with its id.
        max_items: most items or rows of a panel; None for the number of the figure.
        users: conditions that bring a user.
        x: of the figure of arms: names side by side, or the conversations that the config asks for.
        variants: of the figure of tasks put otherwise: by each variant the task that it is of.
        waves: of the figure of waves: by condition the wave that it is, in order of time.
        ranks: of figure 3: leaderboard places whose models are named.
        leaderboard_note: why the questions are not the leaderboard's, so that no places are drawn.
        own_names: the name of each model on the leaderboard.
        scales: of the figure of raters, by name; their order is that of the panels.
        target: of the figure of power: the power to reach, drawn as a line.
        tasks: of the figure of power, in their order; other tasks of the table follow.
    """

    conditions: Sequence[str]
    model_labels: Mapping[str, str] = field(default_factory=dict)
    condition_labels: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    note: str | None = None
    task: str | None = None
    baseline: str = "offline"
    questions: Mapping[ItemKey, Item] = field(default_factory=dict)
    max_items: int | None = None
    users: Sequence[str] = ()
    x: Literal["condition", "conversations"] = "condition"
    variants: Mapping[str, str] = field(default_factory=dict)
    waves: Mapping[str, str] = field(default_factory=dict)
    ranks: Sequence[int] = (1, 2, 5)
    leaderboard_note: str | None = None
    own_names: Mapping[str, str | None] = field(default_factory=dict)
    scales: Mapping[str, ScaleAxis] = field(default_factory=dict)
    target: float = 0.8
    tasks: Sequence[str] = ()

    def model_name(self, model: str) -> str:
        """The printed name of a model."""
        return self.model_labels.get(model, model)
