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
    answers: str,
    participants: str,
    questions: list[str],
    groups: str,
    group_differences: str,
    permutations: int,
    rarest_users: float,
    smallest_cell: int,
    seed: int,
) -> None:
    """Measure and write."""
    frame, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    members = tables.read_frame(participants, Participant)
    rows = measure_groups(
        frame, items, members, seed=seed, rarest_users=rarest_users, smallest_cell=smallest_cell
    )
    tables.write_table(groups, rows, GroupEstimate)
    differences = measure_group_differences(
        frame,
        items,
        members,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    tables.write_table(group_differences, differences, GroupDifference)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
