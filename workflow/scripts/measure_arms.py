"""Set conditions side by side: measures, what the puppets brought, and tests.

In: <results>/answers/answers.parquet, tables of <results>/metrics, <results>/contexts.
Out: <results>/metrics/arms and <results>/metrics/arm_tests.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.arms.table import Brought, Measured, brought, measure_arms
from fieldwork.metrics.arms.tests import ArmOfStudy, measure_arm_tests
from fieldwork.records.metrics import (
    Accuracy,
    ArmMeasure,
    ArmTest,
    Comparison,
    Heterogeneity,
    RunAccuracy,
    VarianceShare,
)
from fieldwork.records.parsing import Answer
from fieldwork.records.puppets import Context


def main(
    inputs: dict[str, Any],
    outputs: dict[str, str],
    arms: list[ArmOfStudy],
    trend: bool,
    baseline: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure, test and write."""
    measured = Measured(
        comparisons=tables.read_frame(inputs["comparisons"], Comparison),
        variance=tables.read_frame(inputs["variance"], VarianceShare),
        heterogeneity=tables.read_frame(inputs["heterogeneity"], Heterogeneity),
        accuracy=tables.read_frame(inputs["accuracy"], Accuracy),
    )
    contexts = contexts_of(list(inputs["contexts"]))
    shown = measure_arms(measured, arms=arms, contexts=contexts, baseline=baseline)
    tests = measure_arm_tests(
        tables.read_frame(inputs["answers"], Answer),
        tables.read_frame(inputs["runs"], RunAccuracy),
        arms=arms,
        trend=trend,
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
    )
    kept = "model, task, kind"
    tables.write_rows(outputs["arms"], shown, ArmMeasure, order_by=f"{kept}, position, measure")
    tables.write_csv(outputs["arms_csv"], outputs["arms"])
    tables.write_rows(
        outputs["tests"], tests, ArmTest, order_by=f"{kept}, measure, condition, other"
    )
    tables.write_csv(outputs["tests_csv"], outputs["tests"])


def contexts_of(paths: Sequence[str]) -> dict[tuple[str, str], Brought]:
    """What contexts hold, by task and condition, which name folder and file."""
    found, columns = {}, ("conversation_ids", "n_dropped", "n_tokens")
    for path in paths:
        rows = [(len(ids), *more) for ids, *more in tables.read_columns(path, Context, columns)]
        found[Path(path).parent.name, tables.stem(path)] = brought(rows)
    return found


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        inputs=dict(snakemake.input.items()),
        outputs=dict(snakemake.output.items()),
        arms=[ArmOfStudy(*arm) for arm in snakemake.params.arms],
        trend=snakemake.params.x == "conversations",
        baseline=snakemake.params.baseline,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )
