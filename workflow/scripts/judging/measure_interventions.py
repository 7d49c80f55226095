"""Measure what verifying attributes, selecting them and foretelling ratings gain on unseen users.

In: learnt scores, and what became of attributes. Out: <results>/metrics/interventions.
"""

from pathlib import Path

from fieldwork import stage, tables
from fieldwork.metrics.interventions import intervention_rows, refining_rows
from fieldwork.records.judging import InterventionEstimate, Judgement, LearntScore, UnitKind
from fieldwork.records.memory import Verification
from fieldwork.sections.judging import Scale


def main(
    scores: list[str],
    verifications: list[str],
    rechecks: list[str],
    interventions: str,
    kinds: dict[str, UnitKind],
    verifying_units: str | None,
    scale: Scale | None,
    rarest_users: float,
) -> None:
    """Measure and write."""
    by_units = {Path(path).stem: tables.read_rows(path, LearntScore) for path in scores}
    rows = [
        row
        for units, score_rows in by_units.items()
        for row in intervention_rows(units, kinds[units], score_rows, rarest_users)
    ]
    for path in verifications:
        rows += refining_rows(
            by_units[verifying_units or ""],
            tables.read_rows(path, Verification),
            [row for recheck in rechecks for row in tables.read_rows(recheck, Judgement)],
            scale.accepted if scale else [],
            rarest_users,
        )
    tables.write_table(interventions, rows, InterventionEstimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
