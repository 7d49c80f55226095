"""The section about calibration: do weights bring the simulated answers closer to the field's?

A gain is claimed only where the table's verdict is `calibrated`, which has its test.
"""

from collections.abc import Sequence

from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.verdicts import calibration_verdict
from fieldwork.metrics.findings.wording import interval_cell, number_cell, p_cell
from fieldwork.records.field import Calibration

_MIXTURE = "calibrated"


def calibration(rows: Sequence[Calibration], outline: StudyOutline) -> FindingsSection:
    """Whether weights over conditions or puppets come closer to the field on prompts held out."""
    models, conditions = list(outline.models), [None, *outline.conditions]
    mixtures = [row for row in rows if row.comparator == _MIXTURE and row.model in models]
    mixtures.sort(
        key=lambda row: (
            models.index(row.model),
            row.level,
            conditions.index(row.puppets_of) if row.puppets_of in conditions else -1,
        )
    )
    model = ("Model",) if len(models) > 1 else ()
    return FindingsSection(
        "Calibration to the field",
        "Do weights come closer to real users than the best uncalibrated arm, on prompts held out? "
        "Bits of distance: fewer is closer. The first table has the shares that the weights give.",
        (
            *model,
            *(
                "Weights of",
                "Bits",
                "Bits in sample",
                "Best arm",
                "Its bits",
                "Gain",
                "Gap closed, %",
                "p",
            ),
            *("Prompts", "Least n of the field", "Verdict"),
        ),
        [_mixture_finding(row, best_arm(row, rows), outline) for row in mixtures],
        ["calibrated_shares", "calibration"],
        "Nothing was calibrated.",
    )


def best_arm(row: Calibration, rows: Sequence[Calibration]) -> Calibration | None:
    """The best uncalibrated comparator of a calibration."""
    key = (row.model, row.level, row.puppets_of)
    return next(
        (arm for arm in rows if arm.is_best and (arm.model, arm.level, arm.puppets_of) == key), None
    )


def _mixture_finding(row: Calibration, best: Calibration | None, outline: StudyOutline) -> Finding:
    model = (outline.models[row.model],) if len(outline.models) > 1 else ()
    puppets = f"puppets of {outline.label(row.puppets_of)}" if row.puppets_of else "conditions"
    comparison = ["–"] * 5
    if best is not None:
        comparison = [
            outline.label(best.arm) if best.arm else "equal weights",
            number_cell(best.js_bits, 3),
            interval_cell(best.gain_bits, best.ci_low, best.ci_high, digits=3, is_difference=True),
            interval_cell(best.gap_closed, best.closed_low, best.closed_high, digits=0, scale=100),
            p_cell(best.p_holm),
        ]
    cells = (
        puppets,
        number_cell(row.js_bits, 3),
        number_cell(row.in_sample_bits, 3),
        *comparison,
        str(row.n_prompts),
        str(row.n_field),
    )
    return Finding((*model, *cells), calibration_verdict(row, best))
