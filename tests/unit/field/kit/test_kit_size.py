"""What power says of real users, as the kit tells it."""

from fieldwork.field.kit import size
from fieldwork.records.power import PowerRow


def advised(
    measure: str, effect: str, n_users: str, replicates: int = 1, **other: str
) -> dict[str, str]:
    row = {
        "measure": measure,
        "effect": effect,
        "task": "lists",
        "model": "a",
        "condition": "field",
    }
    return row | {"replicates": str(replicates), "target": "0.8", "n_users": n_users} | other


def simulated(
    measure: str,
    effect: str,
    powers: dict[int, float | None],
    replicates: int = 1,
    reason: str = "not simulated: power is 1.000 with 20",
) -> list[PowerRow]:
    return [
        PowerRow(measure, effect, "one", 1.0, None, "lists", "a", "field", n, replicates, 9, 0, measure,
                 "Holm", 9, power, None, None, 100, n, None, 0, None, "participants",
                 None if power is not None else reason)
        for n, power in powers.items()
    ]  # fmt: skip


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
    *simulated("option_share", "0.93 -> 0.35", {10: 0.35, 20: 0.86, 40: None}),
    *simulated("option_share", "0.1 -> 0.05", {10: 0.0, 20: 0.01, 40: 0.02}),
    *simulated("entropy_bits", "3", {10: None, 20: None, 40: None}, reason="no such source: x"),
    *simulated("share_who", "0.05", {10: 0.69, 20: 0.93, 40: 1.0}, replicates=2),
    *simulated("share_who", "0.05", {10: 0.98, 20: 1.0, 40: None}, replicates=3),
    *simulated("share_who", "0.05", {10: 1.0, 20: None, 40: None}, replicates=5),
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
