"""datasets: load, filter by the cheap columns, filter by the texts, reshape, sort, write."""

import datasets
from corpus_job import LANGUAGE, MIN_USER_TURNS, Stopwatch, read_job
from corpus_rows import is_wanted, reshape

CHEAP = ["language", "toxic", "redacted", "turn"]
NEEDED = ["conversation_hash", "hashed_ip", "model", "conversation", *CHEAP]


def has_passed(language: str, toxic: bool, redacted: bool, turn: int) -> bool:
    """The filters that need no text."""
    return language == LANGUAGE and not toxic and not redacted and turn >= MIN_USER_TURNS


def main() -> None:
    """Do the job."""
    job = read_job()
    datasets.disable_progress_bars()
    watch = Stopwatch()
    files = [str(file) for file in job.files()]
    many = job.threads if len(files) > 1 and job.threads > 1 else None
    rows = datasets.load_dataset(
        "parquet",
        data_files=files,
        split="train",
        columns=NEEDED,
        cache_dir=job.work,
        num_proc=many,
    )
    rows = rows.filter(has_passed, input_columns=CHEAP, num_proc=many)
    rows = rows.filter(is_wanted, input_columns=["conversation"], num_proc=many)
    rows = rows.map(reshape, remove_columns=rows.column_names, num_proc=many)
    rows = rows.sort("conversation_id")
    seen: set[str] = set()
    fresh = [
        n for n, name in enumerate(rows["conversation_id"]) if not (name in seen or seen.add(name))
    ]
    rows = rows.select(fresh)
    rows.to_parquet(job.out)
    watch.report(job, len(rows))


if __name__ == "__main__":
    main()
