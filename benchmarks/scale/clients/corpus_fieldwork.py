"""Fieldwork: the stage as the workflow runs it."""

from pathlib import Path

from corpus_job import LANGUAGE, MIN_USER_TURNS, Stopwatch, read_job

from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.sections.corpora import FiltersSection

MEMORY = "1024MB"


def main() -> None:
    """Do the job."""
    job = read_job()
    watch = Stopwatch()
    funnel = prepare_corpus(
        job.files(),
        format="wildchat",
        filters=FiltersSection(min_user_turns=MIN_USER_TURNS, languages=[LANGUAGE]),
        out=Path(job.out),
        memory_limit=MEMORY,
        threads=job.threads,
    )
    watch.report(job, funnel[-1].rows_out)


if __name__ == "__main__":
    main()
