"""What power says of real users, as the kit tells it."""

from typing import Any

from fieldwork.field.kit import size
from fieldwork.records.power import PowerRow
from unit.table_rows import row_of


def advised(measure: str, effect: str, n_users: str, replicates: int = 1, **other: str) -> Any:
    row = {
        "measure": measure,
        "effect": effect,
        "task": "lists",
        "model": "a",
        "condition": "field",
    }
    return row | {"replicates": str(replicates), "target": "0.8", "n_users": n_users} | other


def simulated(
    measure: str, effect: str, *powers: float | None, replicates: int = 1, reason: str = ""
) -> Any:
    keys = {
        "measure": measure,
        "effect": effect,
        "task": "lists",
        "model": "a",
        "condition": "field",
    }
    why = reason or "not simulated: power is 1.000 with 20"
    return [
        row_of(
            PowerRow,
            **keys,
            n_users=n,
            replicates=replicates,
            power=power,
            reason=None if power is not None else why,
        )
        for n, power in zip((10, 20, 40), powers, strict=True)
    ]


ADVICE = [
    advised("option_share", "0.93 -> 0.35", "19"),
    advised("option_share", "0.93 -> 0.35", "19", model="b"),
    advised("option_share", "0.1 -> 0.05", ""),
    advised("option_share", "0.5 -> 0.4", "7", condition="history"),
    advised("option_share", "0.6 -> 0.4", "8", task="other"),
    advised("entropy_bits", "3", ""),
    advised("share_who", "0.05", "15", replicates=2),
    advised("share_who", "0.05", "10", replicates=3),
    advised("share_who", "0.05", "10", replicates=5),
]
POWER = [
    *simulated("option_share", "0.93 -> 0.35", 0.35, 0.86, None),
    *simulated("option_share", "0.1 -> 0.05", 0.0, 0.01, 0.02),
    *simulated("entropy_bits", "3", None, None, None, reason="no such source: x"),
    *simulated("share_who", "0.05", 0.69, 0.93, 1.0, replicates=2),
    *simulated("share_who", "0.05", 0.98, 1.0, None, replicates=3),
    *simulated("share_who", "0.05", 1.0, None, None, replicates=5),
]


def test_the_page_gives_each_effect_its_size_and_its_power() -> None:
    page = size.render(ADVICE, POWER, {"lists": 9}, repeats=2)
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert [row for row in rows if "---" not in row] == [
        "| effect | participants for a power of 80 % | with 10 | with 20 | with 40 |",
        "| 93 % → 35 % | 19 | 0.35 | 0.86 | > 0.99 |",
        "| 10 % → 5 % | more than 40 | 0.00 | 0.01 | 0.02 |",
        "| effect | participants for a power of 80 % | with 10 | with 20 | with 40 |",
        "| 5 %, each prompt sent twice | 15 | 0.69 | 0.93 | 1.00 |",
        "| 5 %, each prompt sent 3 times | 10 or fewer | 0.98 | 1.00 | > 0.99 |",
        "| effect | participants for a power of 80 % | with 10 | with 20 | with 40 |",
        "| 3 bits | no such source | – | – | – |",
    ]
    assert "in this survey each prompt is sent twice" in page
