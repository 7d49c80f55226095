"""Measure how varied the answers to all prompts of a task are, beside the baseline's.

In: <results>/answers/answers.parquet. Out: <results>/metrics/prompt_means.
"""

from fieldwork import stage, tables
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.records.metrics import PromptMean
from fieldwork.records.parsing import Answer


def main(answers: str, prompt_means: str, prompt_means_csv: str, baseline: str, seed: int) -> None:
    """Measure and write."""
    measured = measure_prompt_means(
        tables.read_frame(answers, Answer), baseline=baseline, seed=seed
    )
    order = "model, task, condition, metric"
    tables.write_rows(prompt_means, measured, PromptMean, order_by=order)
    tables.write_csv(prompt_means_csv, prompt_means)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        prompt_means=snakemake.output.prompt_means,
        prompt_means_csv=snakemake.output.prompt_means_csv,
        baseline=snakemake.params.baseline,
        seed=snakemake.params.seed,
    )
