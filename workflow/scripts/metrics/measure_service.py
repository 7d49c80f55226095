"""Measure how long answers take, what they cost, and the price of a point of score.

In: <results>/responses, <results>/first_tokens, items, <results>/metrics/estimates/accuracy.
Out: <results>/metrics/service and trade_offs.
"""

from fieldwork import stage, tables
from fieldwork.metrics.service.calls import read_calls, read_first_times
from fieldwork.metrics.service.scores import point_scores
from fieldwork.metrics.service.table import measure_service
from fieldwork.metrics.service.trade_offs import measure_trade_offs
from fieldwork.records.estimates import Estimate
from fieldwork.records.service import ServiceMeasure, TradeOff


def main(
    responses: list[str],
    first_token_tables: list[str],
    questions: list[str],
    accuracy: str,
    service: str,
    trade_offs: str,
    baseline: str,
    rarest_users: float,
) -> None:
    """Measure and write."""
    score_rows = tables.read_rows(accuracy, Estimate)
    scores = point_scores(score_rows, tables.read_items(questions))
    rows = measure_service(
        read_calls(responses),
        scores,
        read_first_times(first_token_tables),
        baseline=baseline,
        rarest_users=rarest_users,
    )
    tables.write_table(service, rows, ServiceMeasure)
    tables.write_table(trade_offs, measure_trade_offs(rows, score_rows), TradeOff)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
