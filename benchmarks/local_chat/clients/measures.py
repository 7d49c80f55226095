"""What every runtime is asked, in one order, by one clock: CPU seconds of its process, on one thread.

A client is one script. It gets a job as JSON on its command line and writes what was measured as JSON;
it needs numpy and its own runtime only.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ids = list[int]
Logits = npt.NDArray[np.float32]
Steps = Callable[[int], Logits]
"""Go on by so many steps; the logits behind a single one, a row for each answer."""

ROWS, WIDTHS, TURNS, PREFILLS = (1, 16), (1, 4), 10, 3
# of the first token that answers are given, beyond those of single bytes; each row has its own
FIRST = 1000


class Runtime(Protocol):
    """A model in memory."""

    def next_logits(self, ids: Ids) -> Logits:
        """Logits of the token after a prompt, of which nothing is known yet."""

    def answers(self, past: Ids, rows: int, width: int) -> Steps | None:
        """Answers after one prompt, read `width` tokens a row and step; None where it has no way to."""


def forced_ids(rows: int, width: int) -> npt.NDArray[np.int64]:
    """Tokens of a step."""
    return np.arange(FIRST, FIRST + rows * width).reshape(rows, width)


def run(start: Callable[[dict[str, Any]], Runtime]) -> None:
    """Measure a runtime and write."""
    job = json.loads(sys.argv[1])
    # since the process began, so that imports count
    runtime = start(job)
    measures = {"load cpu_s": time.process_time()}
    given = json.loads(Path(job["prompts"]).read_text(encoding="utf-8"))
    seconds = _cpu_seconds(
        lambda n: [runtime.next_logits(given["prefill"]) for _ in range(n)], PREFILLS
    )
    measures["prefill tokens/cpu_s"] = len(given["prefill"]) / seconds
    for rows in ROWS:
        for width in WIDTHS:
            steps = runtime.answers(given["past"], rows, width)
            if steps is not None:
                name = f"decode tokens/cpu_s, {rows} rows of {width}"
                measures[name] = rows * width / _cpu_seconds(steps, TURNS)
    firsts = [runtime.answers(given["past"], rows, 1) for rows in ROWS]
    one, many = (steps(1)[0] for steps in firsts if steps is not None)
    measures["same logits"] = float(np.array_equal(one, many))
    with Path(job["logits"]).open("wb") as handle:
        for ids in given["prompts"][: job["n_prompts"]]:
            handle.write(np.asarray(runtime.next_logits(ids), dtype=np.float32).tobytes())
    Path(job["result"]).write_text(json.dumps(measures), encoding="utf-8")


def _cpu_seconds(steps: Callable[[int], Any], turns: int) -> float:
    """CPU seconds of a step, after a first one."""
    steps(1)
    begun = time.process_time()
    steps(turns)
    return (time.process_time() - begun) / turns
