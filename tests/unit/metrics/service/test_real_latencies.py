"""Requests of eight endpoints, whose published medians the table must give (LLMPerf, December 2023)."""

from pathlib import Path

import pandas as pd
import pytest

from fieldwork.records.service import ServiceMeasure
from fieldwork.statistics.quantiles import quantile
from unit.metrics.service.service_calls import call, rows

REPOSITORY = Path(__file__).resolve().parents[4]
FILE = REPOSITORY.parent / "shared/data/latency/llmperf_requests_8endpoints.parquet"
PUBLISHED = {
    "groq 70b": (0.22, 0.81),
    "anyscale 7b": (0.20, 2.95),
    "anyscale 70b": (0.21, 2.26),
    "bedrock 70b": (0.39, 6.99),
    "fireworks 70b": (0.52, 3.77),
    "together 13b": (0.55, 1.59),
    "together 70b": (0.64, 2.44),
    "replicate 70b": (1.19, 12.37),
}
"""Median seconds to the first token, and to the last, of the requests without error."""
ERRORS = {"bedrock 70b": 49, "together 13b": 1}
"""Answers with too few tokens, and an empty one."""
Service = dict[tuple[str, str], ServiceMeasure]

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not FILE.exists(), reason="../shared/data is not on this machine"),
]


def requests() -> pd.DataFrame:
    frame = pd.read_parquet(FILE)
    return frame.assign(endpoint=frame["provider"] + " " + frame["model_size"])


@pytest.fixture(scope="module")
def service() -> Service:
    """The table, an endpoint a condition."""
    calls = [
        call(
            row["end_to_end_latency_s"],
            condition=row["endpoint"],
            dispatch="recorded",
            outcome="ok" if pd.isna(row["error_code"]) else "failed",
            input_tokens=row["number_input_tokens"],
            output_tokens=row["number_output_tokens"],
            started_at=None,
            cost_usd=None,
        )
        for row in requests().to_dict("records")
    ]
    return rows(calls, baseline="groq 70b")


@pytest.mark.parametrize("endpoint", PUBLISHED)
def test_medians_are_those_published(service: Service, endpoint: str) -> None:
    first, last = PUBLISHED[endpoint]
    row = service[endpoint, "latency_p50_s"]
    assert round(row.estimate or 0, 2) == last
    assert (row.ci_low or 9e9) < (row.estimate or 0) < (row.ci_high or 0)
    frame = requests()
    answers = frame[(frame["endpoint"] == endpoint) & frame["error_code"].isna()]
    assert round(quantile(answers["ttft_s"].to_numpy(), 0.5), 2) == first


def test_errors_are_counted_and_move_no_time(service: Service) -> None:
    counts = {endpoint: service[endpoint, "latency_p50_s"] for endpoint in PUBLISHED}
    assert {name: row.n_errors for name, row in counts.items() if row.n_errors} == ERRORS
    assert {row.n_calls for row in counts.values()} == {145, 150}
    # with the errors of bedrock, which end early, its median would be 6.92
    frame = requests()
    mixed = frame.loc[frame["endpoint"] == "bedrock 70b", "end_to_end_latency_s"]
    assert round(float(mixed.median()), 2) == 6.92


def test_tokens_a_second_are_those_of_the_requests(service: Service) -> None:
    frame = requests()
    answers = frame[frame["error_code"].isna()]
    for endpoint, part in answers.groupby("endpoint"):
        speeds = part["number_output_tokens"] / part["end_to_end_latency_s"]
        row = service[str(endpoint), "tokens_s_median"]
        assert row.estimate == pytest.approx(float(speeds.median()))
        total = part["number_output_tokens"].sum() / part["end_to_end_latency_s"].sum()
        assert service[str(endpoint), "tokens_s"].estimate == pytest.approx(float(total))
