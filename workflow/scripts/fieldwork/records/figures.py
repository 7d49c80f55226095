"""Rows of the tables beside the figures: what each mark shows, and which answers it was computed from."""

from typing import Literal

from fieldwork.records.columns import column, table

AnswerBase = Literal["counted", "read", "first", "runs", "values"]
"""Which answers of an arm an estimate is computed from.

`counted`: answers to choices, read or not, and lists that can be read. `read`: of both those that can be
read. `first`: the first counted one of each user to each item, and all without users. `runs`: those of
the runs that scores are made of. `values`: the first with a value of each user to each scale or number,
and all with a value without users.
"""


@table("figures/{figure}.marks.parquet", "number", name="marks")
class FigureMark:
    """A mark of a figure: a point, a bar or the end of a curve, with its interval."""

    number: int = column("place in the order of drawing, from 1")
    measure: str = column("what it shows, in words")
    model: str = column("model")
    task: str | None = column("task, NULL for a mark over tasks")
    item_id: str | None = column("the item, NULL for a mark over items")
    condition: str = column("condition")
    puppet_id: str | None = column("the puppet of a run, NULL for others")
    replicate: int | None = column("the repeat index of a run, NULL for others")
    answer: str | None = column("the option or letter whose share it shows, NULL for others")
    kind: str | None = column("kind of the items, NULL where the task has one")
    base: AnswerBase = column(
        "which answers it is computed from: `counted`, `read`, `first`, `runs` or `values`"
        " (docs/explorer.md)"
    )
    value: float | None = column("the estimate as drawn, NULL for `n/a`")
    ci_low: float | None = column("lower end of the 95 % interval drawn")
    ci_high: float | None = column("upper end of the 95 % interval drawn")
    n: int | None = column("answers behind it by the figure's table, NULL where it does not say")
    left: float = column("left end in the SVG, in points")
    top: float = column("upper end in the SVG, in points")
    width: float = column("width in the SVG, in points")
    height: float = column("height in the SVG, in points")
    text: str = column("what the study's page says of it")
