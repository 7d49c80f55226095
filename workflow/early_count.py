"""Reads the questions and counts the simulated users of small files, while Snakemake reads a config.

`fieldwork.config.plan_inputs` starts it. In: JSON on standard input: `needs`, `corpora` and `personas` by
name, `questions` by task, and `counts`, an earlier table of counts. Exit status 1 and a sentence mean
that a file is wrong, or that there are too few users. Exit status 2 means that it cannot count; the job
that reads the files then says why.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from fieldwork.errors import StudyError

CANNOT_COUNT = 2


def main(job: dict[str, Any]) -> None:
    """Read, count and compare.

    Raises:
        StudyError: a file cannot be read, holds no such questions, or a source has too few users or
            personas.
        ImportError: this environment lacks the libraries; that of the jobs may have them.
    """
    from fieldwork.config.needs import Need
    from fieldwork.puppets.supply import count_corpus, count_personas, read_supplies, require_enough
    from fieldwork.tasks.items import read_sources
    from fieldwork.tasks.own_items import TaskSource

    for sources in job["questions"].values():
        read_sources([TaskSource(**source) for source in sources])
    needs = [Need(*need) for need in job["needs"]]
    supplies = dict(read_supplies(job["counts"], needs)) if job["counts"] else {}
    supplies |= {
        name: count_corpus([Path(f) for f in source["files"]], source["reading"], source["filters"])
        for name, source in job["corpora"].items()
    }
    for name, source in job["personas"].items():
        supplies[name] = count_personas([Path(f) for f in source["files"]], source["column"])
    require_enough(needs, supplies)


if __name__ == "__main__":
    try:
        main(json.load(sys.stdin))
    except StudyError as error:
        sys.exit(str(error))
    except ImportError:
        sys.exit(CANNOT_COUNT)
