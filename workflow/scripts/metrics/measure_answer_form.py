"""Measure the form of answers by condition and by group, beside the baseline's.

In: <results>/answers/forms, <results>/field/participants.parquet. Out: <results>/metrics/answer_form.
"""

from fieldwork import stage, tables
from fieldwork.metrics.answer_form import FormArm, measure_answer_form, split_groups
from fieldwork.records.answer_form import AnswerForm, FormReading
from fieldwork.records.field import FIELD, Participant


def main(
    forms: list[str],
    participants: list[str],
    answer_form: str,
    baseline: str,
    rarest_users: float,
) -> None:
    """Measure and write; the participants are a file, or none."""
    arms = {
        FormArm(*map(str, names)): frame
        for path in forms
        for names, frame in tables.read_frame(path, FormReading).groupby(
            ["model", "task", "condition"]
        )
    }
    field_arms = {arm: frame for arm, frame in arms.items() if arm.condition == FIELD}
    for path in participants:
        arms |= dict(split_groups(field_arms, tables.read_frame(path, Participant)))
    rows = measure_answer_form(arms, baseline=baseline, rarest_users=rarest_users)
    tables.write_table(answer_form, rows, AnswerForm)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
