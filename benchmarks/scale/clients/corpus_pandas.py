"""pandas: file by file, rows of the wrong language and flagged ones left out while reading."""

import pandas as pd
from corpus_job import LANGUAGE, Stopwatch, read_job
from corpus_rows import is_wanted, reshape

COLUMNS = ["conversation_hash", "hashed_ip", "language", "model", "conversation"]
FILTERS = [("language", "==", LANGUAGE), ("toxic", "==", False), ("redacted", "==", False)]


def main() -> None:
    """Do the job."""
    job = read_job()
    watch = Stopwatch()
    kept = []
    for file in job.files():
        frame = pd.read_parquet(file, columns=COLUMNS, filters=FILTERS)
        wanted = frame[frame["conversation"].map(is_wanted)]
        kept.append(pd.DataFrame([reshape(row) for row in wanted.to_dict("records")]))
    whole = pd.concat(kept).drop_duplicates("conversation_id").sort_values("conversation_id")
    whole.to_parquet(job.out, compression="zstd", index=False)
    watch.report(job, len(whole))


if __name__ == "__main__":
    main()
