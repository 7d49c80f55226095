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
    calibration: str,
    calibration_items: str,
    calibration_weights: str,
    calibrated_shares: str,
    settings: dict[str, Any],
    baseline: str,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    calibration_settings = table.CalibrationSettings(**settings)
    other_weights = None
    for file in weights:
        rows = tables.read_rows(file, CalibrationWeight)
        other_weights = reuse.read_external_weights(rows, file=file, settings=calibration_settings)
    fit = table.measure_calibration(frame, settings=calibration_settings, external=other_weights)
    shares = reuse.calibrated_shares(
        frame,
        fit.summary,
        fit.weights,
        settings=calibration_settings,
        baseline=baseline,
        external=other_weights,
    )
    tables.write_table(calibration, fit.summary, Calibration)
    tables.write_table(calibration_items, fit.items, CalibrationItem)
    tables.write_table(calibration_weights, fit.weights, CalibrationWeight)
    tables.write_table(calibrated_shares, shares, CalibratedShare)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
