"""Measure whether weights bring the simulated answers to the field's, and write them where they do.

In: <results>/answers/answers.parquet, and another study's weights where the config names some.
Out: <results>/metrics/calibration, calibration_weights and calibrated_shares.
"""

from fieldwork import stage, tables
from fieldwork.metrics.calibration.reuse import calibrated_shares, read_weights
from fieldwork.metrics.calibration.table import CalibrationSettings, measure_calibration
from fieldwork.records.field import CalibratedShare, Calibration, CalibrationWeight
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    weights: list[str],
    outputs: dict[str, str],
    settings: CalibrationSettings,
    baseline: str,
) -> None:
    """Measure and write."""
    frame, external = tables.read_frame(answers, Answer), read_weights(weights, settings)
    fit = measure_calibration(frame, settings=settings, external=external)
    shares = calibrated_shares(
        frame, fit.summary, fit.weights, settings=settings, baseline=baseline, external=external
    )
    tables.write_table(outputs["calibration"], fit.summary, Calibration)
    tables.write_table(outputs["calibration_weights"], fit.weights, CalibrationWeight)
    tables.write_table(outputs["calibrated_shares"], shares, CalibratedShare)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
