"""From real users to tables and figures where there is little to tell: NULL with a reason, never NaN."""

import dataclasses
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from field import measure_agreement, measure_groups
from fieldwork import tables
from fieldwork.figures import field_groups, field_ranks
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import save, use_style
from fieldwork.metrics.claims.lookup import add_corrections
from fieldwork.records.field import (
    GroupDifference,
    GroupEstimate,
    ItemAgreement,
    Participant,
    RankAgreement,
)
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from unit.table_rows import answer_of

ROOT = Path(__file__).resolve().parents[2]
ROW_TYPES: dict[str, Any] = {
    "groups": GroupEstimate, "group_differences": GroupDifference,
    "rank_agreement": RankAgreement, "item_agreement": ItemAgreement,
}  # fmt: skip
OPTIONS = [f"o{k:02}" for k in range(20)]
ITEMS = [
    *(Item(f"l{k}", "list", "q", "p", [], None, "s", "t") for k in range(4)),
    *(Item(f"c{k}", "choice", "q", "p", ["a", "b"], "A", "s", "t") for k in range(3)),
]


def item_answers(condition: str, n: int, *, kind: str = "any", says: str = "any") -> list[Answer]:
    """n answers to each item, the field's by participants; `says` is any, one (all alike) or nothing."""
    source, rows = random.Random(f"{condition}{n}"), []
    for item in ITEMS:
        for k in range(n if kind in ("any", item.kind) else 0):
            options = OPTIONS[:5] if says == "one" else source.sample(OPTIONS, 5)
            letter = "A" if says == "one" else source.choice("AB")
            who: Any = {"puppet_id": f"p{k:02}"} if condition == "field" else {"replicate": k}
            keys = {"condition": condition, "item_id": item.item_id, "kind": item.kind, **who}
            if says == "nothing":
                reading: Any = {"outcome": "refused", "reason": "refused"}
            elif item.kind == "list":
                reading = {"raw_items": options, "items": options}
            else:
                reading = {"letter_strict": letter, "letter": letter}
            rows.append(answer_of(**keys, **reading))
    return rows


def pair(n: int, m: int, *, says: str = "any", **changes: str) -> list[Answer]:
    """n participants, and m reruns that may say something else."""
    field = item_answers("field", n, says=changes.pop("field", says), **changes)
    return field + item_answers("offline", m, says=says, **changes)


CASES: dict[str, list[Answer]] = {
    "all": pair(20, 20) + item_answers("rag", 8),
    "lists alone": pair(12, 12, kind="list"),
    "letters alone": pair(12, 12, kind="choice"),
    "all alike": pair(12, 12, says="one"),
    "offline says nothing": pair(12, 12, says="nothing", field="any"),
    "two participants": pair(2, 12),
    "no field": pair(0, 12),
    "none": [],
}


def groups_of(n: int, names: Sequence[str]) -> list[Participant]:
    return [Participant(f"p{k:02}", "variable", names[k % len(names)]) for k in range(n)]


@pytest.mark.parametrize(
    ("case", "names"), [*((case, "xyz") for case in CASES), ("lists alone", ""), ("none", "")]
)
def test_every_case_is_told_and_drawn(case: str, names: Sequence[str], tmp_path: Path) -> None:
    path = {name: str(tmp_path / f"{name}.parquet") for name in ("answers", "people", "t")}
    people = groups_of(20, names) if names else []
    tables.write_rows(path["answers"], CASES[case], Answer)
    tables.write_rows(path["people"], people, Participant)
    tables.write_rows(path["t"], ITEMS, Item)
    out = {name: str(tmp_path / f"{name}.parquet") for name in ROW_TYPES}
    groups, agreement = (dict([*out.items()][k : k + 2]) for k in (0, 2))
    settings: Any = {"questions": [path["t"]], "permutations": 49, "rarest_users": 0.05, "seed": 1}
    measure_groups.main(path["answers"], path["people"], **groups, **settings, smallest_cell=5)
    measure_agreement.main(path["answers"], **agreement, **settings)
    rows = [row for name, kind in ROW_TYPES.items() for row in tables.read_rows(out[name], kind)]
    for row in rows:
        cells = dataclasses.asdict(row)
        assert not any(isinstance(v, float) and math.isnan(v) for v in cells.values()), row
        holes = {"estimate", "difference", "tau_b", "js_distance", "field_rank"} & {
            name for name, value in cells.items() if value is None
        }
        assert not holes or cells["reason"], row
    with mpl.rc_context():
        use_style(ROOT / "resources" / "figures.mplstyle")
        figures = [
            field_groups.draw(
                tables.read_frame(out["groups"]),
                add_corrections(tables.read_frame(out["group_differences"]), [], "group_difference"),
                FigureSettings(conditions=[]),
            ),
            field_ranks.draw(
                add_corrections(tables.read_frame(out["item_agreement"]), [], "field_place"),
                add_corrections(tables.read_frame(out["rank_agreement"]), [], "field_order"),
                FigureSettings(conditions=["offline", "rag"]),
            ),
        ]  # fmt: skip
        for number, figure in enumerate(figures):
            save(figure, [tmp_path / f"{number}.svg"])
