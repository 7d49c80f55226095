"""Which arms no other beats in score, time and price together."""

from fieldwork.metrics.service.trade_offs import measure_trade_offs
from fieldwork.records.service import ServiceMeasure, TradeOff
from unit.metrics.service.service_calls import accuracy, call, rows, timed


def service(condition: str, seconds: float | None, usd: float | None) -> list[ServiceMeasure]:
    calls = [call(seconds, condition=condition, cost_usd=usd, started_at=None) for _ in range(25)]
    return list(rows(calls).values())


def judged(*arms: tuple[str, float | None, float | None, float | None]) -> dict[str, TradeOff]:
    """Rows by condition, from condition, score, seconds and dollars."""
    measures = [row for name, _, seconds, usd in arms for row in service(name, seconds, usd)]
    scores = [accuracy(name, value=score) for name, score, _, _ in arms]
    return {row.condition: row for row in measure_trade_offs(measures, scores)}


def best(found: dict[str, TradeOff]) -> set[str]:
    return {name for name, row in found.items() if row.is_best}


def test_an_arm_is_best_unless_another_is_as_good_in_all_and_better_in_one() -> None:
    found = judged(
        ("cheap", 0.5, 2.0, 0.001),
        ("fast", 0.5, 1.0, 0.002),
        ("right", 0.9, 3.0, 0.003),
        ("worse", 0.5, 2.0, 0.002),
        ("slower", 0.9, 3.5, 0.003),
    )
    assert best(found) == {"cheap", "fast", "right"}
    assert found["worse"].is_best is False
    assert found["worse"].weighed == "latency_s, usd"


def test_an_arm_that_lacks_what_others_have_is_left_out_with_a_reason() -> None:
    found = judged(("a", 0.5, 2.0, 0.1), ("local", 0.9, None, None), ("b", 0.4, 1.0, None))
    assert best(found) == {"a"}
    assert (found["local"].is_best, found["local"].reason) == (None, "it has no time and no price")
    assert found["b"].reason == "it has no price"
    assert found["a"].reason is None


def test_without_time_and_price_nothing_is_judged() -> None:
    found = judged(("a", 0.5, None, None), ("b", 0.6, None, None))
    assert {row.is_best for row in found.values()} == {None}
    assert {row.reason for row in found.values()} == {"it has no time and no price"}


def test_tasks_are_judged_apart_and_scores_without_calls_have_no_row() -> None:
    measures = [row for task in "tu" for row in rows(timed([1.0] * 25, task=task)).values()]
    scores = [accuracy(task="t"), accuracy(task="u", value=0.1), accuracy("field")]
    found = measure_trade_offs(measures, scores)
    assert [(row.task, row.is_best) for row in found] == [("t", True), ("u", True)]
