"""How a study's texts are encoded: the settings of `embedding`, and the precision that `auto` stands for.

The precision is measured once in a study and kept under `resources/precision/`, outside of what is
deleted and computed again. Vectors of another precision bring some other conversations before a
question, and their answers would have to be asked and paid for again. So neither another processor, nor
a node of a cluster, nor a deleted folder of results changes it.
"""

import json
import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fieldwork import tables
from fieldwork.encoder import PRECISIONS, Encoder, EncoderSettings, Precision
from fieldwork.errors import StudyError, first_line
from fieldwork.files.texts import read_table
from fieldwork.records.puppets import EncoderChoice

logger = logging.getLogger(__name__)

AUTO = "auto"
KEPT_CHOICES = Path("resources/precision")
"""A file a study, with what was measured of each of its encoders."""
GAIN = 1.2
"""How many times as fast as fp32 bf16 must be: less is within what a busy machine does to a timing."""
NEARNESS = 0.999
"""The least cosine that a text's vectors in fp32 and bf16 must have."""
ROUNDS = 3
LOSS = 2.0
"""How many times as long as fp32 bf16 may take in a round; after more the trial is over."""


class PrecisionTrial(NamedTuple):
    """What an encoder does in both precisions on one machine.

    Attributes:
        rates: texts a second in the fastest round; 0 where torch cannot compute in a precision.
        cosine: the smallest of a text's vectors in both; NaN where there are none.
        processor: the processor or GPU.
    """

    rates: dict[Precision, float]
    cosine: float
    processor: str


def settings_of(
    embedding: dict[str, Any], threads: int | None = None, choices: Sequence[str] = ()
) -> EncoderSettings:
    """The encoder that the setting `embedding` names.

    Args:
        choices: the table of `EncoderChoice`, where the setting's precision is `auto`.

    Raises:
        StudyError: the table names no precision.
    """
    precision = embedding["precision"]
    if precision == AUTO:
        (path,) = choices
        ((precision,),) = [(row["precision"],) for row in read_table(path, ("precision",))]
    return EncoderSettings(
        model=embedding["model"],
        batch_size=embedding["batch_size"],
        device=embedding["device"],
        precision=precision,
        threads=threads,
    )


def choose_precision(study: str, settings: EncoderSettings, texts: Sequence[str]) -> EncoderChoice:
    """The precision in which a study encodes: the one it has, else the faster one here, which it keeps.

    Args:
        study: its name.
        settings: the encoder; its precision counts for nothing.
        texts: what the precisions are tried on.

    Raises:
        StudyError: the encoder cannot be loaded, or what was kept cannot be read.
    """
    path = KEPT_CHOICES / f"{study}.json"
    entries = _read(path)
    entry = entries.get(settings.model)
    if entry is None:
        entry = _measured_entry(try_precisions(Encoder(settings, Path()), texts))
        tables.write_text(path, json.dumps(entries | {settings.model: entry}, indent=2) + "\n")
    logger.info(
        "embedding.precision: auto is %s in this study: %s (measured on %s, %s; kept in %s)",
        entry["precision"],
        entry["reason"],
        entry["processor"],
        entry["day"],
        path,
        extra={"is_shown": True},
    )
    values = {name: entry[name] for name in ("precision", "processor", "reason")}
    return EncoderChoice(encoder=settings.model, **values)


def try_precisions(encoder: Encoder, texts: Sequence[str]) -> PrecisionTrial:
    """Encode texts in both precisions, in turn, as the study will: one by one or in its batches."""
    best: dict[Precision, float] = dict.fromkeys(PRECISIONS, np.inf)
    cosine = np.nan
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        vectors = encoder.compute(texts, "fp32")
        fp32_s = time.perf_counter() - begun
        best["fp32"] = min(best["fp32"], fp32_s)
        try:
            near_vectors = encoder.compute(texts, "bf16")
        # torch's error for what a device cannot do
        except RuntimeError as error:
            logger.info("torch cannot compute in bf16 here (%s)", first_line(error))
            break
        bf16_s = time.perf_counter() - begun - fp32_s
        best["bf16"] = min(best["bf16"], bf16_s)
        cosine = float((vectors * near_vectors).sum(axis=1).min())
        if bf16_s > LOSS * fp32_s:
            break
    rates = {precision: len(texts) / seconds for precision, seconds in best.items()}
    return PrecisionTrial(rates, cosine, encoder.processor())


def verdict(trial: PrecisionTrial) -> tuple[Precision, str]:
    """The precision to take after a trial, and why."""
    if trial.rates["bf16"] == 0:
        return "fp32", "torch cannot compute in bf16 there"
    if trial.rates["bf16"] < GAIN * trial.rates["fp32"]:
        return "fp32", f"bf16 is not {GAIN} times as fast there"
    # NaN is not near
    if not trial.cosine >= NEARNESS:
        return "fp32", f"vectors in bf16 differ too much (a cosine below {NEARNESS})"
    return "bf16", f"bf16 is more than {GAIN} times as fast there, with vectors as good"


def _measured_entry(trial: PrecisionTrial) -> dict[str, Any]:
    precision, reason = verdict(trial)
    return {
        "precision": precision,
        "reason": reason,
        "processor": trial.processor,
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "texts_per_second": {name: round(rate, 1) for name, rate in trial.rates.items()},
        "least_cosine": round(trial.cosine, 5) if np.isfinite(trial.cosine) else None,
    }


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """What was measured before, by encoder."""
    if not path.exists():
        return {}
    try:
        entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for entry in entries.values():
            if entry["precision"] not in PRECISIONS:
                raise ValueError(f"{entry['precision']!r} is none")
            if not all(isinstance(entry[name], str) for name in ("reason", "processor", "day")):
                raise ValueError("an entry is no text")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(
            f"{path}: does not say which precision the vectors of this study have ({first_line(error)}); "
            f"put a copy back, or set embedding.precision to fp32 or bf16"
        ) from error
    return entries
