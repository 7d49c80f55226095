"""A study run week after week: a wave each time, none asked twice, and a sentence on what moved."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from servers.provider import Chat, http_error, serve_chat
from workflow.conftest import (
    REPOSITORY,
    Checkout,
    from_yaml,
    loopback_model,
    planned_rules,
    rows_of,
)

pytestmark = pytest.mark.workflow

WEEK = 7

ANSWERS = "results/drift/answers/answers.parquet"

PRIMES = REPOSITORY.parent / "shared/data/drift/llmdrift_primes_4snapshots.parquet"


def settled(request: Mapping[str, Any]) -> str:
    """A letter that depends on question and seed, mostly B."""
    digest = hashlib.sha256(repr(request).encode()).digest()
    return "B" if digest[0] < 180 else "ACD"[digest[1] % 3]


class WeeklyStudy:
    """The shipped study of drift with a model on loopback, run on any day."""

    def __init__(self, checkout: Checkout, server: Chat) -> None:
        self.checkout, self.server = checkout, server
        shipped = yaml.safe_load((REPOSITORY / "studies/drift.yaml").read_text(encoding="utf-8"))
        model = loopback_model(
            server.base_url, "loop", label="Loop", api_key_env=None, send_seed=True
        )
        own = from_yaml(
            """
            models: {loop: $loop}
            tasks: {mmlu_lite: {runs: 8, sources: [{format: mmlu, dataset: sample_mmlu, shots: 5,
              subjects: [sample_astronomy]}]}}
            metrics: {permutations: 99}
            """,
            loop=model,
        )
        selected = {**shipped["study"], "models": ["loop"], "tasks": ["mmlu_lite"]}
        overlay = {**shipped, **own, "study": selected}
        self.path = checkout.study("drift", overlay)
        self.start = datetime.now(UTC)

    def run(self, days: int, *arguments: str) -> Any:
        env = {"STUDY_TIME": (self.start + timedelta(days=days)).isoformat()}
        targets = arguments or ("results/drift/findings.md",)
        return self.checkout.snakemake(*targets, "--configfile", str(self.path), env=env)

    @property
    def n_calls(self) -> int:
        """Questions that the server got."""
        return sum(call.path.endswith("/chat/completions") for call in self.server.requests)

    def findings(self) -> str:
        return (self.checkout.results("drift") / "findings.md").read_text(encoding="utf-8")


@pytest.mark.real_data
@pytest.mark.skipif(not PRIMES.is_file(), reason=f"no real extract at {PRIMES}")
def test_snapshots_of_gpt_4_give_the_published_scores(tmp_path: Path) -> None:
    checkout = Checkout(REPOSITORY, tmp_path)
    (tmp_path / "resources/recorded").mkdir(parents=True)
    shutil.copy(PRIMES, tmp_path / "resources/recorded")
    study = str(REPOSITORY / "studies/recorded_waves.yaml")
    checkout.make("results/recorded_waves/metrics/drift.parquet", study=study)
    rows = rows_of(
        Checkout(tmp_path, tmp_path),
        """
        SELECT model, task, 100 * first_value, 100 * value, has_moved
        FROM 'RESULTS/recorded_waves/metrics/drift.parquet' WHERE measure = 'accuracy'
        """,
    )
    scores = {(model, task): (first, later) for model, task, first, later, _ in rows}
    assert all(has_moved for *_, has_moved in rows)
    # Chen, Zaharia and Zou (2024), with a bare "No" counted
    assert scores["gpt_4", "primes"] == pytest.approx((84.0, 51.1))
    # what fell is no skill: the later snapshot says No to nearly every number
    assert scores["gpt_4", "only_primes"] == pytest.approx((97.6, 2.4))
    assert scores["gpt_4", "only_composites"] == pytest.approx((70.4, 99.8))
    assert scores["gpt_35", "primes"] == pytest.approx((52.8, 76.0))


@pytest.fixture
def weekly(folder: Checkout) -> Iterator[WeeklyStudy]:
    with serve_chat(answer=settled, models=[{"id": "loop"}]) as server:
        yield WeeklyStudy(folder, server)


def test_every_week_adds_a_wave_and_says_whether_anything_moved(weekly: WeeklyStudy) -> None:
    first = weekly.run(0, ANSWERS)
    assert first.returncode == 0, first.stderr[-3000:]
    n_a_wave = weekly.n_calls
    assert n_a_wave > 0
    # the same week again asks and computes nothing
    assert not planned_rules(weekly.run(0, "-n", ANSWERS).stdout)

    second = weekly.run(WEEK, ANSWERS)
    assert second.returncode == 0, second.stderr[-3000:]
    assert weekly.n_calls == 2 * n_a_wave

    weekly.server.answer = lambda request: "A"  # noqa: ARG005
    # nobody ran the study in the week between
    third = weekly.run(3 * WEEK)
    assert third.returncode == 0, third.stderr[-3000:]
    assert weekly.n_calls == 3 * n_a_wave
    sentence = next(
        line for line in weekly.findings().splitlines() if line.startswith("- **Over time:**")
    )
    assert "answers changed from" in sentence
    assert "accuracy" in sentence or "gives other answers" in sentence
    rows = rows_of(
        weekly.checkout,
        """
        SELECT look, measure, has_moved, n_answers FROM 'RESULTS/drift/metrics/drift.parquet'
        WHERE measure = 'letters' ORDER BY look
        """,
    )
    assert [(look, has_moved) for look, _, has_moved, _ in rows] == [(1, False), (2, True)]

    # answers of a week that is over come from the ledger, and results may be deleted at any time
    replies = list((weekly.checkout.results("drift") / "responses").rglob("*.parquet"))
    assert len(replies) == 3
    for path in replies:
        path.unlink()
    again = weekly.run(3 * WEEK, ANSWERS)
    assert again.returncode == 0, again.stderr[-3000:]
    assert weekly.n_calls == 3 * n_a_wave


def test_a_wave_that_was_cut_is_taken_as_it_is(weekly: WeeklyStudy) -> None:
    # fewer than would stop the run at once: the others are answered
    weekly.server.faults.append(http_error(400, times=3))
    cut = weekly.run(0, ANSWERS)
    assert cut.returncode != 0
    n_calls = weekly.n_calls
    late = weekly.run(WEEK, ANSWERS)
    assert late.returncode == 0, late.stderr[-3000:]
    assert "which is over; nothing is asked now" in late.stderr + late.stdout
    rows = rows_of(
        weekly.checkout,
        "SELECT condition, count(*) FROM 'RESULTS/drift/answers/answers.parquet' GROUP BY 1 ORDER BY 1",
    )
    counts = [n for _, n in rows]
    assert counts[0] < counts[1]
    assert weekly.n_calls == n_calls + counts[1]
