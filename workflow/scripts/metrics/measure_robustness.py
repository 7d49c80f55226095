"""Measure what changes when a task is put otherwise, and whether groups of people are answered alike.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/robustness and group_gaps.
"""

from fieldwork import stage, tables
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.records.parsing import Answer
from fieldwork.records.robustness import GroupGap, Robustness


def main(
    answers: str,
    questions: list[str],
    robustness: str,
    group_gaps: str,
    variants: dict[str, str],
    groups: dict[str, str],
    chance: ChanceSettings,
) -> None:
    """Measure and write; `variants` are tasks with their origins, `groups` are of variants."""
    frame, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    # a task of people's names may be asked without the one that has the slots
    pairs = {task: origin for task, origin in variants.items() if origin in set(items["task"])}
    rows = measure_robustness(frame, items, variants=pairs, settings=chance)
    tables.write_table(robustness, rows, Robustness)
    gaps = measure_group_gaps(frame, items, variants=variants, groups=groups, settings=chance)
    tables.write_table(group_gaps, gaps, GroupGap)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
