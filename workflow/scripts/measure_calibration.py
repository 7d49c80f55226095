"""Measure whether weights bring the simulated answers to the field's, and write them where they do.

In: <results>/answers/answers.parquet, and another study's weights where the config names some.
Out: <results>/metrics/calibration, calibration_items, calibration_weights and calibrated_shares.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.calibration import reuse, table
from fieldwork.records.field import CalibratedShare, Calibration, CalibrationItem, CalibrationWeight
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    weights: list[str],
    written: dict[str, str],
    settings: dict[str, Any],
    baseline: str,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    asked = table.Settings(**settings)
    given = None
    for file in weights:
        rows = tables.read_rows(file, CalibrationWeight)
        given = reuse.given_weights(rows, file=file, settings=asked)
    found = table.measure_calibration(frame, settings=asked, given=given)
    shares = reuse.calibrated_shares(
        frame, found.summary, found.weights, settings=asked, baseline=baseline, given=given
    )
    _write(written, "calibration", found.summary, Calibration)
    _write(written, "calibration_items", found.items, CalibrationItem)
    _write(written, "calibration_weights", found.weights, CalibrationWeight)
    _write(written, "calibrated_shares", shares, CalibratedShare)


def _write(written: dict[str, str], name: str, rows: list[Any], row_type: type[Any]) -> None:
    tables.write_rows(written[name], rows, row_type, order_by=table.ORDERS[name])
    tables.write_csv(written[f"{name}_csv"], written[name])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        weights=list(snakemake.input.weights),
        written=dict(snakemake.output.items()),
        settings=dict(snakemake.params.settings),
        baseline=snakemake.params.baseline,
    )
