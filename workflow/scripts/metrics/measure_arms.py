"""Set conditions side by side: measures, what their contexts hold, and tests.

In: <results>/answers/answers.parquet, tables of <results>/metrics, <results>/contexts.
Out: <results>/metrics/arms and <results>/metrics/arm_tests.
"""

from fieldwork import stage, tables
from fieldwork.metrics.arms.contexts import read_contexts
from fieldwork.metrics.arms.table import ArmTables, measure_arms
from fieldwork.metrics.arms.tests import StudyArm, measure_arm_tests
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


def main(
    inputs: dict[str, str],
    contexts: list[str],
    arms: str,
    arm_tests: str,
    conversations: list[tuple[str, int | None]],
    x: str,
    baseline: str,
) -> None:
    """Measure, test and write.

    Args:
        conversations: the conditions side by side, each with the conversations that it asks for.
    """
    metrics = ArmTables(
        comparisons=tables.read_frame(inputs["comparisons"], Comparison),
        variance=tables.read_frame(inputs["variance"], VarianceShare),
        heterogeneity=tables.read_frame(inputs["heterogeneity"], Heterogeneity),
        accuracy=tables.read_frame(inputs["accuracy"], Accuracy),
    )
    study_arms = [StudyArm(*arm) for arm in conversations]
    rows = measure_arms(
        metrics, arms=study_arms, contexts=read_contexts(contexts), baseline=baseline
    )
    tables.write_table(arms, rows, ArmMeasure)
    tests = measure_arm_tests(
        tables.read_frame(inputs["answers"], Answer),
        tables.read_frame(inputs["accuracy_runs"], RunAccuracy),
        arms=study_arms,
        trend=x == "conversations",
        baseline=baseline,
    )
    tables.write_table(arm_tests, tests, ArmTest)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
