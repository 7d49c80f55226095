"""Tables of judgements for tests, as the import writes them."""

from typing import Any

import pandas as pd

from fieldwork.metrics.judgements.table import measure_judgements
from fieldwork.records.judging import JudgementEstimate
from fieldwork.sections.judging import Scale

UNIT_COLUMNS = ("user_id", "item_id", "unit_group", "author_a", "author_b", "unit_kind")
LENGTHS = ("characters_a", "characters_b")

Rows = list[JudgementEstimate]
Key = tuple[str, str, str | None]


def tables_of(rows: pd.DataFrame, scale: Scale) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judgements and units; `rows` has unit_id, rater, rater_kind, value and what is known of units."""
    rows = rows.assign(
        **{c: None for c in (*UNIT_COLUMNS, *LENGTHS, "first_side") if c not in rows}
    )
    judgements = rows.assign(scale=scale.name)
    judgements["repeat"] = judgements.groupby(["unit_id", "rater"]).cumcount()
    units = rows.drop_duplicates("unit_id")[["unit_id", *UNIT_COLUMNS, *LENGTHS]]
    columns = ["scale", "unit_id", "rater", "rater_kind", "repeat", "value", "first_side"]
    return judgements[columns], units


def estimates(rows: pd.DataFrame, scale: Scale, **settings: Any) -> dict[Key, JudgementEstimate]:
    """Estimates of all units and options together, by measure, raters and whom they are compared with."""
    measured = measure_judgements(*tables_of(rows, scale), [scale], **settings)
    return {
        (row.measure, row.raters, row.versus): row
        for row in measured.estimates
        if row.option is None and row.unit_group is None
    }
