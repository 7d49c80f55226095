"""Say how large a study must be to detect given effects, and what that costs.

In: tables of items, requests and contexts as far as they are there, and of responses and parsed answers.
Out: <results>/power, power at every size and the smallest that will do.
"""

from typing import Any

import pandas as pd

from fieldwork import stage, tables
from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.metrics.power.likeness import measure_likeness, measure_share_who
from fieldwork.metrics.power.page import render
from fieldwork.metrics.power.simulation import simulate_effects
from fieldwork.metrics.power.study import PlannedStudy
from fieldwork.metrics.power.table import advice_rows, power_rows, with_tasks
from fieldwork.records.parsing import Answer
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    inputs: list[str],
    outputs: dict[str, str],
    study: dict[str, Any],
    design: PlannedStudy,
    answer_times: dict[str, int],
    parsed_times: dict[str, int],
) -> None:
    """Simulate, price and write."""
    arms = ArmSizes(PlanInputs(**study, files=set(inputs), responses=answer_times))
    frames = [tables.read_frame(path, Answer) for path in parsed_times]
    answers = pd.concat(frames) if frames else None
    pilot = {} if answers is None else measure_likeness(answers)
    shares = {} if answers is None else measure_share_who(answers)
    planned_study = with_tasks(design, [*study["tasks"]], arms, pilot, shares)
    curves = simulate_effects(planned_study)
    advice = [*advice_rows(curves, planned_study, arms)]
    tables.write_table(outputs["power"], power_rows(curves, planned_study, arms), PowerRow)
    tables.write_table(outputs["advice"], advice, PowerAdvice)
    tables.write_text(outputs["page"], render(advice, planned_study))


if __name__ == "__main__":
    stage.run_script(main, snakemake)
