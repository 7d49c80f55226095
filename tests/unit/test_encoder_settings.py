"""`precision: auto` is the faster precision, if it is good enough; it is measured once and kept."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldwork import encoder, encoder_settings, tables
from fieldwork.encoder import Encoder, EncoderSettings, Precision, Vectors
from fieldwork.encoder_settings import (
    PrecisionTrial,
    choose_precision,
    settings_of,
    try_precisions,
    verdict,
)
from fieldwork.errors import StudyError
from fieldwork.puppets.embedding import N_TRIAL_TEXTS, trial_texts
from fieldwork.records.puppets import EncoderChoice

SAMPLE = Path(__file__).resolve().parents[2] / "resources/sample/conversations.parquet"
EMBEDDING = {"model": "all-MiniLM-L6-v2", "batch_size": 1, "device": None, "precision": "auto"}
FAST = PrecisionTrial({"fp32": 62.0, "bf16": 109.0}, 0.9991, "a processor with bfloat16")
SLOW = PrecisionTrial({"fp32": 62.0, "bf16": 15.0}, 0.9991, "a processor without")


@pytest.mark.parametrize(
    ("fp32", "bf16", "cosine", "precision", "reason"),
    [
        (62.0, 75.0, 0.9991, "bf16", "more than 1.2 times as fast"),
        (62.0, 70.0, 0.9991, "fp32", "not 1.2 times as fast"),
        (62.0, 109.0, 0.98, "fp32", "a cosine below"),
        (62.0, 109.0, float("nan"), "fp32", "a cosine below"),
        (62.0, 0.0, float("nan"), "fp32", "cannot compute in bf16"),
    ],
)
def test_the_faster_precision_is_taken_where_its_vectors_are_good(
    fp32: float, bf16: float, cosine: float, precision: Precision, reason: str
) -> None:
    taken, why = verdict(PrecisionTrial({"fp32": fp32, "bf16": bf16}, cosine, "a processor"))
    assert taken == precision
    assert reason in why


def test_the_packaged_encoder_is_tried_as_it_will_encode(tmp_path: Path) -> None:
    texts = trial_texts(str(SAMPLE), "user_turns")
    assert len(texts) == N_TRIAL_TEXTS == len({*texts})
    trial = try_precisions(Encoder(EncoderSettings(threads=1), tmp_path / "no"), texts[:4])
    assert min(trial.rates.values()) > 0
    assert encoder_settings.NEARNESS < trial.cosine < 1 - 1e-7
    assert trial.processor
    assert not [*tmp_path.iterdir()]


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[PrecisionTrial]:
    """What the next trials on this machine give; the test fails where one more is made."""
    monkeypatch.chdir(tmp_path)
    left: list[PrecisionTrial] = []
    monkeypatch.setattr(encoder_settings, "try_precisions", lambda *_: left.pop(0))
    return left


def test_another_machine_goes_on_as_the_first_one_began(trials: list[PrecisionTrial]) -> None:
    trials += [FAST]
    first = choose_precision("wildchat", EncoderSettings(), ["a"])
    assert first.precision == "bf16"
    trials += [SLOW]
    assert choose_precision("wildchat", EncoderSettings(), ["a"]) == first
    assert choose_precision("other", EncoderSettings(), ["a"]).precision == "fp32"


GOOD = {"precision": "bf16", "reason": "r", "processor": "p", "day": "2026-11-24"}


@pytest.mark.parametrize(
    "entry", [None, GOOD | {"precision": "int8"}, GOOD | {"reason": None}, {"precision": "bf16"}]
)
def test_a_record_that_says_nothing_is_not_measured_anew(
    trials: list[PrecisionTrial], entry: dict[str, Any] | None
) -> None:
    trials += [FAST]
    path = Path("resources/precision/s.json")
    path.parent.mkdir(parents=True)
    path.write_text("" if entry is None else json.dumps({"all-MiniLM-L6-v2": entry}))
    with pytest.raises(StudyError, match=r"set embedding\.precision to fp32 or bf16") as caught:
        choose_precision("s", EncoderSettings(), ["a"])
    assert str(caught.value).startswith("resources/precision/s.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("precision", encoder.PRECISIONS)
def test_jobs_encode_as_the_study_does(tmp_path: Path, precision: Precision) -> None:
    choice = EncoderChoice("m", precision, "p", "r")
    tables.write_table(tmp_path / "encoder.csv", [choice], EncoderChoice)
    settings = settings_of(EMBEDDING, 3, [str(tmp_path / "encoder.csv")])
    assert settings == EncoderSettings("all-MiniLM-L6-v2", 1, None, precision, 3)


class NoBfloat16(Encoder):
    """On a device that multiplies no bfloat16."""

    def compute(self, texts: Sequence[str], precision: Precision | None = None) -> Vectors:
        if precision == "bf16":
            raise RuntimeError("not implemented for 'BFloat16'")
        return np.full((len(texts), 4), 0.5, np.float32)

    def processor(self) -> str:
        return "an old device"


def test_a_device_without_bfloat16_is_no_error() -> None:
    trial = try_precisions(NoBfloat16(EncoderSettings(), Path()), ["a", "b"])
    assert trial.rates["fp32"] > 0
    assert verdict(trial) == ("fp32", "torch cannot compute in bf16 there")
