"""The section about calibration: do weights bring the simulated answers closer to the field's?

A gain is claimed only where the table's verdict is `calibrated`, which has its test.
"""

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    MODEL,
    Section,
    TableColumn,
    count,
    interval,
    number,
    of_row_beside,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import PERCENT, THOUSANDTHS, p_cell
from fieldwork.records.field import Calibration
from fieldwork.statistics.families import LEVEL


def _mixtures(study: StudyEvidence) -> list[Calibration]:
    models, conditions = [*study.outline.models], [*study.outline.conditions]
    return sorted(
        (
            row
            for row in study.of(Calibration)
            if row.comparator == "calibrated" and row.model in models
        ),
        key=lambda row: (
            models.index(row.model),
            row.level,
            conditions.index(row.puppets_of) if row.puppets_of in conditions else -1,
        ),
    )


def best_arm(row: Calibration, study: StudyEvidence) -> Calibration | None:
    """The best uncalibrated comparator of a calibration."""
    level = {"level": row.level, "puppets_of": row.puppets_of, "is_best": True}
    return next(iter(study.rows_beside(Calibration, row, model=row.model, **level)), None)


def _weights(row: Calibration, study: StudyEvidence) -> str:
    return f"puppets of {study.outline.label(row.puppets_of)}" if row.puppets_of else "conditions"


def _verdict(row: Calibration, study: StudyEvidence) -> FindingVerdict:
    """Whether weights come closer to the field than the best uncalibrated arm.

    Calibration decides for itself, with tests of its own on prompts held out.
    """
    best = best_arm(row, study)
    if row.js_bits is None or best is None:
        reason = f": {literal(row.reason)}" if row.reason else ""
        return FindingVerdict(f"{row.verdict}{reason}")
    if row.verdict == "calibrated":
        return FindingVerdict("calibrated: closer", True, True)
    is_sure = best.p_holm is not None and best.p_holm < LEVEL
    if is_sure and best.ci_high is not None and best.ci_high < 0:
        return FindingVerdict(f"{row.verdict}: further", True, True)
    return FindingVerdict(f"{row.verdict}: gain not shown", True)


CALIBRATION = Section(
    "Calibration to the field",
    "Do weights come closer to real users than the best uncalibrated arm, on prompts held out? "
    "Bits of distance: fewer is closer. The first table has the shares that the weights give.",
    ["calibrated_shares", "calibration"],
    _mixtures,
    [
        MODEL,
        TableColumn("Weights of", _weights),
        TableColumn("Bits", number("js_bits", THOUSANDTHS)),
        TableColumn("Bits in sample", number("in_sample_bits", THOUSANDTHS)),
        TableColumn(
            "Best arm",
            of_row_beside(
                best_arm,
                lambda best, study: study.outline.label(best.arm) if best.arm else "equal weights",
            ),
        ),
        TableColumn("Its bits", of_row_beside(best_arm, number("js_bits", THOUSANDTHS))),
        TableColumn(
            "Gain", of_row_beside(best_arm, interval("gain_bits", THOUSANDTHS.as_difference))
        ),
        TableColumn(
            "Gap closed, %",
            of_row_beside(best_arm, interval("gap_closed", PERCENT, "closed_low", "closed_high")),
        ),
        TableColumn("p", of_row_beside(best_arm, lambda best, _: p_cell(best.p_holm))),
        TableColumn("Prompts", count("n_prompts")),
        TableColumn("Least n of the field", count("n_field")),
    ],
    _verdict,
)
