"""Snakemake's own limit of jobs is taken away, and a user's is not."""

from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobRateLimiter

from fieldwork.scheduling import end_rechecks


@pytest.mark.parametrize(
    ("options", "is_kept"),
    [([], False), (["--max-jobs-per-timespan", "5/1s"], True)],
)
def test_only_the_default_limit_of_jobs_is_taken_away(options: list[str], is_kept: bool) -> None:
    limit = get_argument_parser().parse_args(options).max_jobs_per_timespan
    scheduler = SimpleNamespace(job_rate_limiter=JobRateLimiter(limit))
    end_rechecks(scheduler)
    assert (scheduler.job_rate_limiter is not None) == is_kept


def test_a_snakemake_without_such_a_limit_is_left_as_it_is() -> None:
    scheduler = SimpleNamespace()
    end_rechecks(scheduler)
    assert vars(scheduler) == {}
