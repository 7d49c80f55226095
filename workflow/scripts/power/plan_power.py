"""Say how large a study must be to detect given effects, and what that costs.

In: tables of items, requests and contexts as far as they are there, and of responses and parsed answers.
Out: <results>/power, power at every size and the smallest that will do.
"""

from typing import Any

import pandas as pd

from fieldwork import stage, tables
from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.metrics.power.likeness import measure_likeness
from fieldwork.metrics.power.plan import plan_power
from fieldwork.metrics.power.table import PlannedStudy
from fieldwork.records.parsing import Answer
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    inputs: list[str],
    outputs: dict[str, str],
    study: dict[str, Any],
    design: dict[str, Any],
    answer_times: dict[str, int],
    parsed_times: dict[str, int],
) -> None:
    """Simulate, price and write."""
    arms = ArmSizes(PlanInputs(**study, files=set(inputs), responses=answer_times))
    frames = [tables.read_frame(path, Answer) for path in parsed_times]
    pilot = measure_likeness(pd.concat(frames)) if frames else {}
    power = plan_power(PlannedStudy(**design), [*study["tasks"]], arms, pilot)
    tables.write_table(outputs["power"], power.rows, PowerRow)
    tables.write_table(outputs["advice"], power.advice, PowerAdvice)
    tables.write_text(outputs["page"], power.page)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
