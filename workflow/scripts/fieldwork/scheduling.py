"""How Snakemake looks for jobs that can start.

By default it starts at most a hundred jobs a second. While jobs wait, each look at them asks for another
one a second later, and so does each end of a job. These never end: a study whose arms wait for each other
has more looks every second with every job, until they take a whole processor.
"""

from typing import Any

_DEFAULT = (100, 1)
"""Jobs, and in how many seconds."""


def end_rechecks(scheduler: Any) -> None:
    """Take Snakemake's default limit away; one that a user set stays.

    Args:
        scheduler: of a workflow whose jobs are about to start.
    """
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == _DEFAULT:
        scheduler.job_rate_limiter = None
