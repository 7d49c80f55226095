"""Counts the simulated users that small files give, while a config is read.

Started by `fieldwork.config.plan_inputs`. In: JSON on standard input, `needs`, and `corpora` and
`personas` by their names. Ends with 1 and a sentence where
there are too few, and with 2 where it cannot count: then the job that reads the files says why.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from fieldwork.errors import StudyError

CANNOT_COUNT = 2


def main(job: dict[str, Any]) -> None:
    """Count and compare.

    Raises:
        StudyError: a file cannot be read, or there are too few of something.
        ImportError: the libraries are not in this environment, but perhaps in that of the jobs.
    """
    from fieldwork.config.needs import Need
    from fieldwork.puppets.supply import count_corpus, count_personas, puppet_counts

    supplies = {
        name: count_corpus([Path(f) for f in one["files"]], one["reading"], one["filters"])
        for name, one in job["corpora"].items()
    }
    for name, one in job["personas"].items():
        supplies[name] = count_personas([Path(f) for f in one["files"]], one["column"])
    puppet_counts([Need(*need) for need in job["needs"]], supplies)


if __name__ == "__main__":
    try:
        main(json.load(sys.stdin))
    except StudyError as error:
        sys.exit(str(error))
    except ImportError:
        sys.exit(CANNOT_COUNT)
