"""The section about calibration: do weights bring the simulated answers closer to the field's?

A gain is claimed only where the table's verdict is `calibrated`, which has its test.
"""

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    MODEL,
    Cell,
    Section,
    TableColumn,
    count,
    difference,
    interval,
    number,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import NOTHING, p_cell
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


def _of_best(cell: Cell) -> Cell:
    """A cell of the best uncalibrated arm, or a dash without one."""

    def best_cell(row: Calibration, study: StudyEvidence) -> str:
        best = best_arm(row, study)
        return NOTHING if best is None else cell(best, study)

    return best_cell


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
        TableColumn("Bits", number("js_bits", 3)),
        TableColumn("Bits in sample", number("in_sample_bits", 3)),
        TableColumn(
            "Best arm",
            _of_best(
                lambda best, study: study.outline.label(best.arm) if best.arm else "equal weights"
            ),
        ),
        TableColumn("Its bits", _of_best(number("js_bits", 3))),
        TableColumn("Gain", _of_best(difference("gain_bits", digits=3))),
        TableColumn(
            "Gap closed, %",
            _of_best(interval("gap_closed", "closed_low", "closed_high", scale=100)),
        ),
        TableColumn("p", _of_best(lambda best, _: p_cell(best.p_holm))),
        TableColumn("Prompts", count("n_prompts")),
        TableColumn("Least n of the field", count("n_field")),
    ],
    _verdict,
)
