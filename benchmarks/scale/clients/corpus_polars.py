"""polars: one lazy query on its streaming engine."""

import os

from corpus_job import LANGUAGE, MIN_USER_TURNS, ROLES, Job, Stopwatch, read_job


def main() -> None:
    """Do the job."""
    job = read_job()
    # polars reads it when it is imported
    os.environ["POLARS_MAX_THREADS"] = str(job.threads)
    import polars

    watch = Stopwatch()
    query(job).sink_parquet(job.out, compression="zstd", engine="streaming")
    rows = polars.scan_parquet(job.out).select(polars.len()).collect().item()
    watch.report(job, rows)


def query(job: Job) -> "polars.LazyFrame":  # type: ignore[name-defined]  # noqa: F821
    """The filter, cheap columns first."""
    import polars as pl

    talk, turn = pl.col("conversation"), pl.element().struct
    role, content = turn.field("role").str.to_lowercase(), turn.field("content")
    n_user_turns = talk.list.eval(role == "user").list.sum()
    unreadable = talk.list.eval(content.is_null() | ~role.is_in(ROLES)).list.any()
    says_something = talk.list.eval((role == "user") & content.str.contains(r"\S")).list.any()
    first = talk.list.get(0).struct.field("turn_identifier").cast(pl.String)
    return (
        pl.scan_parquet(job.files())
        .filter((pl.col("language") == LANGUAGE) & ~pl.col("toxic") & ~pl.col("redacted"))
        .filter(n_user_turns >= MIN_USER_TURNS)
        .filter(~unreadable & says_something)
        .select(
            conversation_id=pl.col("conversation_hash") + "-" + first,
            user_id="hashed_ip",
            started_at=talk.list.eval(turn.field("timestamp")).list.min(),
            language="language",
            model="model",
            n_user_turns=n_user_turns,
            n_tokens=talk.list.eval((content.str.len_bytes() + 3) // 4 + 4).list.sum(),
            messages=talk.list.eval(pl.struct(role.alias("role"), content.alias("content"))),
        )
        .unique("conversation_id", keep="any")
        .sort("conversation_id")
    )


if __name__ == "__main__":
    main()
