"""From real users to tables and figures where there is little to tell: NULL with a reason, never NaN."""

import dataclasses
import math
import random
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import pytest

from field import measure_agreement, measure_groups
from fieldwork import tables
from fieldwork.figures import field_groups, field_ranks
from fieldwork.figures.style import save, use_style
from fieldwork.records.field import (
    GroupDifference,
    GroupEstimate,
    ItemAgreement,
    Participant,
    RankAgreement,
)
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [f"o{k:02}" for k in range(20)]
ITEMS = [
    *(Item(f"l{k}", "list", "q", "p", [], None, "s", "t") for k in range(4)),
    *(Item(f"c{k}", "choice", "q", "p", ["a", "b"], "A", "s", "t") for k in range(3)),
]


def given(condition: str, n: int, *, kind: str = "any", says: str = "any") -> list[Answer]:
    """n answers to each item, the field's by participants; `says` is any, one (all alike) or nothing."""
    source = random.Random(f"{condition}{n}")
    rows: list[Answer] = []
    for item in ITEMS:
        for k in range(n if kind in ("any", item.kind) else 0):
            options = OPTIONS[:5] if says == "one" else source.sample(OPTIONS, 5)
            letter = "A" if says == "one" else source.choice("AB")
            is_list, silent = item.kind == "list", says == "nothing"
            names = options if is_list and not silent else None
            one = letter if not is_list and not silent else None
            who = f"p{k:02}" if condition == "field" else None
            rows.append(
                Answer(
                    "m", "t", condition, item.item_id, who, 0 if who else k, item.kind,
                    "refused" if silent else "ok", names, names, one, one,
                    "refused" if silent else None,
                )
            )  # fmt: skip
    return rows


CASES: dict[str, list[Answer]] = {
    "all": given("field", 20) + given("offline", 20) + given("rag", 8),
    "lists alone": given("field", 12, kind="list") + given("offline", 12, kind="list"),
    "letters alone": given("field", 12, kind="choice") + given("offline", 12, kind="choice"),
    "all alike": given("field", 12, says="one") + given("offline", 12, says="one"),
    "offline says nothing": given("field", 12) + given("offline", 12, says="nothing"),
    "the field says nothing": given("field", 12, says="nothing") + given("offline", 12),
    "two participants": given("field", 2) + given("offline", 12),
    "one rerun": given("field", 12) + given("offline", 1),
    "no field": given("offline", 12),
    "field alone": given("field", 12),
    "none": [],
}


def groups_of(n: int, names: Sequence[str]) -> list[Participant]:
    return [Participant(f"p{k:02}", "variable", names[k % len(names)]) for k in range(n)]


@pytest.mark.parametrize("names", [(), ("x", "y", "z")], ids=len)
@pytest.mark.parametrize("case", CASES)
def test_every_case_is_told_and_drawn(case: str, names: Sequence[str], tmp_path: Path) -> None:
    paths = {
        name: str(tmp_path / f"{name}.parquet") for name in ("answers", "participants", "items")
    }
    tables.write_rows(
        paths["answers"], CASES[case], Answer, order_by="condition, item_id, puppet_id"
    )
    people = groups_of(20, names) if names else []
    tables.write_rows(paths["participants"], people, Participant, order_by="participant_id")
    tables.write_rows(paths["items"], ITEMS, Item, order_by="item_id")
    groups = {name: str(tmp_path / f"{name}.parquet") for name in ("groups", "group_differences")}
    agreement = {
        name: str(tmp_path / f"{name}.parquet") for name in ("rank_agreement", "item_agreement")
    }
    asked = {"questions": [paths["items"]], "tasks": ["t"], "permutations": 49, "seed": 1}
    measure_groups.main(paths["answers"], paths["participants"], **groups, **asked)
    measure_agreement.main(paths["answers"], **agreement, **asked)
    out = groups | agreement
    rows = [
        *tables.read_rows(out["groups"], GroupEstimate),
        *tables.read_rows(out["group_differences"], GroupDifference),
        *tables.read_rows(out["rank_agreement"], RankAgreement),
        *tables.read_rows(out["item_agreement"], ItemAgreement),
    ]
    for row in rows:
        told = dataclasses.asdict(row)
        assert not any(isinstance(v, float) and math.isnan(v) for v in told.values()), row
        holes = {"estimate", "difference", "tau_b", "js_distance", "field_rank"} & {
            name for name, value in told.items() if value is None
        }
        assert not holes or told["reason"], row
    with mpl.rc_context():
        use_style(ROOT / "resources" / "figures.mplstyle")
        figures = [
            field_groups.draw(
                tables.read_frame(out["groups"]), tables.read_frame(out["group_differences"]),
                field_groups.GroupsFigureSettings(conditions=[]),
            ),
            field_ranks.draw(
                tables.read_frame(out["item_agreement"]), tables.read_frame(out["rank_agreement"]),
                field_ranks.RanksFigureSettings(conditions=["offline", "rag"]),
            ),
        ]  # fmt: skip
        for number, figure in enumerate(figures):
            save(figure, [tmp_path / f"{number}.svg"])
