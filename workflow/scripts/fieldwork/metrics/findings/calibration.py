"""What is claimed of a calibration: sentences with number, interval, n and test.

Owns the section of the findings that says whether weights bring the simulated answers closer to the
field's. A gain is claimed only where the verdict is `calibrated`, which has its test; a decline is told
with its reason. Promises that every sentence names the table it can be checked in.
"""

from collections.abc import Sequence

from fieldwork.metrics.findings.page import Section, Study, is_shown
from fieldwork.metrics.findings.phrases import counted, interval, p_text, signed
from fieldwork.records.field import Calibration

TITLE = "Calibration to the field"
_CALIBRATED = "calibrated"


def section(rows: Sequence[Calibration], study: Study) -> Section:
    """Whether weights over conditions or puppets come closer to the field on prompts held out."""
    own = [r for r in rows if r.comparator == _CALIBRATED and r.model in study.models]
    models = list(study.models)
    own.sort(key=lambda r: (models.index(r.model), r.level, _place(r, study)))
    lines = [f"{_where(r, study)}: {_told(r, _best(r, rows), study)} [calibration]" for r in own]
    shown = [r for r in own if r.verdict == _CALIBRATED]
    if not own:
        head = "Nothing was calibrated."
    elif not shown:
        head = (
            f"No weights are shown to bring the simulated answers closer to the field than the best "
            f"arm does, in any of {_cases(own)} [calibration]."
        )
    else:
        most = max(shown, key=lambda r: _gain(_best(r, rows)))
        best = _best(most, rows)
        head = (
            f"On prompts they were not fitted on, weights come closer to the field than the best "
            f"uncalibrated arm in {len(shown)} of {_cases(own)}, by up to {_gain(best):.3f} bits "
            f"({_where(most, study)}) [calibration]."
        )
    return Section(TITLE, head, lines)


def _cases(rows: Sequence[Calibration]) -> str:
    return counted(len(rows), "calibration")


def _place(row: Calibration, study: Study) -> int:
    conditions = list(study.conditions)
    return conditions.index(row.puppets_of) if row.puppets_of in conditions else -1


def _best(row: Calibration, rows: Sequence[Calibration]) -> Calibration | None:
    """The best uncalibrated comparator of a calibration."""
    key = (row.model, row.level, row.puppets_of)
    return next((r for r in rows if r.is_best and (r.model, r.level, r.puppets_of) == key), None)


def _gain(best: Calibration | None) -> float:
    return best.gain_bits if best is not None and best.gain_bits is not None else 0.0


def _where(row: Calibration, study: Study) -> str:
    what = "weights of conditions"
    if row.puppets_of is not None:
        what = f"weights of the puppets of {study.label(row.puppets_of)}"
    return f"{study.models[row.model]}, {what}" if len(study.models) > 1 else what


def _told(row: Calibration, best: Calibration | None, study: Study) -> str:
    if row.js_bits is None or best is None:
        return f"{row.verdict}, because {row.reason}"
    name = study.label(best.arm) if best.arm else "equal weights"
    test = f", {p_text(best.p_holm)}" if best.p_holm is not None else ""
    numbers = (
        f"{row.js_bits:.3f} bits from the field on held-out prompts"
        f"{_inside(row)}, {name} {best.js_bits or 0.0:.3f}; gain "
        f"{signed(best.gain_bits or 0.0, digits=3)}, {interval(best.ci_low, best.ci_high, digits=3)}"
        f"{test}; {counted(row.n_prompts, 'prompt')}, n = {row.n_field} or more of the field"
    )
    if row.verdict == _CALIBRATED:
        return f"closer to the field than {name} ({numbers})"
    if best.ci_high is not None and best.ci_high < 0 and is_shown(best.p_holm):
        return f"{row.verdict}: further from the field than {name} ({numbers})"
    return f"{row.verdict}: no gain over {name} shown ({numbers})"


def _inside(row: Calibration) -> str:
    return "" if row.in_sample_bits is None else f" and {row.in_sample_bits:.3f} in sample"
