"""Measure the field's answers by group of participants, and how far groups differ.

In: <results>/answers/answers.parquet, items and <results>/field/participants.parquet. Out:
<results>/metrics/groups and group_differences.
"""

from fieldwork import stage, tables
from fieldwork.metrics.groups.table import measure_groups
from fieldwork.metrics.groups.tests import measure_group_differences
from fieldwork.records.field import GroupDifference, GroupEstimate, Participant
from fieldwork.records.parsing import Answer


def main(
    inputs: dict[str, str],
    items: list[str],
    tasks: list[str],
    outputs: dict[str, str],
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    answers = tables.read_frame(inputs["answers"], Answer)
    questions = tables.read_items(items, tasks)
    participants = tables.read_frame(inputs["participants"], Participant)
    groups = measure_groups(answers, questions, participants, seed=seed)
    place = "model, task, kind, variable, item_id"
    order = f'{place}, "group", metric, answer'
    tables.write_rows(outputs["groups"], groups, GroupEstimate, order_by=order)
    tables.write_csv(outputs["groups_csv"], outputs["groups"])
    differences = measure_group_differences(
        answers, questions, participants, n_permutations=permutations, seed=seed
    )
    order = f'{place}, "group", metric'
    tables.write_rows(outputs["differences"], differences, GroupDifference, order_by=order)
    tables.write_csv(outputs["differences_csv"], outputs["differences"])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        inputs={name: snakemake.input[name] for name in ("answers", "participants")},
        items=list(snakemake.input.task),
        tasks=snakemake.params.tasks,
        outputs=dict(snakemake.output.items()),
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )
