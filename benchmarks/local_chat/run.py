"""Runtimes for a chat model on this machine, one thread each.

PYTHONPATH=workflow/scripts python benchmarks/local_chat/run.py

One model, read from one GGUF file and brought into the form of each runtime; one list of prompts, as
tokens. Peers are in environments of their own. Ten minutes on a quiet core, and two more the first time,
for installing and converting. What was measured goes to `results.csv`, and from there to `results.md`.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import environments
from agreement import Agreement, agreement, read_logits
from measuring import ClientError, ask_client
from page import page
from preparing import HERE, WORK, Model, convert, prepare_model, prepare_prompts
from result_rows import read_rows, write_rows
from runtimes import (
    CEILING,
    CONVERSIONS,
    MACHINE,
    NATIVE,
    PLAIN,
    REFERENCE,
    RUNTIMES,
    SETTINGS,
    Runtime,
    packages,
)

LIMIT_S = 600.0
# prompts whose logits are compared: all of them, and with other instructions of the processor
N_PROMPTS = {NATIVE: 120, PLAIN: 20}


class Row(NamedTuple):
    """A line of `results.csv`."""

    setting: str
    runtime: str
    measure: str
    value: float


def main() -> None:
    """Measure each runtime and write."""
    WORK.mkdir(parents=True, exist_ok=True)
    model = prepare_model()
    prompts = prepare_prompts(model)
    (WORK / "prompts.json").write_text(json.dumps(prompts), encoding="utf-8")
    job = _job(model)
    rows = [Row(NATIVE, MACHINE, "load", os.getloadavg()[0])]
    for setting in SETTINGS:
        for runtime in [CEILING, *RUNTIMES]:
            if setting == NATIVE or runtime.is_torch:
                rows += _measured(runtime, setting, job)
    rows += _compared()
    write_rows(HERE, [row._replace(value=float(f"{row.value:.4g}")) for row in rows])
    write_page()


def write_page() -> None:
    """`results.md`, from `results.csv`."""
    values = {tuple(names): value for *names, value in read_rows(HERE, Row)}
    (HERE / "results.md").write_text(page(values, packages()), encoding="utf-8")


def _job(model: Model) -> dict[str, str | int]:
    """What every client is told, with the model in the form of each peer."""
    job: dict[str, str | int] = {
        "gguf": str(model.gguf),
        "packed": str(model.packed),
        "folder": str(model.folder),
        "prompts": str(WORK / "prompts.json"),
    }
    config = json.loads((model.folder / "config.json").read_text(encoding="utf-8"))
    job |= {"vocabulary": config["vocab_size"], "head_size": config["head_dim"]}
    for name, environment in CONVERSIONS.items():
        target = WORK / name
        reason = convert(f"to_{name}", environment, target, model.folder)
        if reason:
            print(f"{name}: {reason}", flush=True)
        else:
            job[name] = str(target)
    return job


def _measured(runtime: Runtime, setting: str, job: dict[str, str | int]) -> list[Row]:
    """One client's measures; none, and a message, where a peer cannot run.

    SystemExit where the project's own environment fails, as there is nothing to compare with then.
    """
    logits = logits_file(runtime, setting)
    # of an earlier run
    logits.unlink(missing_ok=True)
    content = {**job, "variant": runtime.variant, "n_prompts": N_PROMPTS[setting]}
    prepared = environments.Prepared(Path(sys.executable), "")
    if runtime.environment:
        prepared = environments.prepare(runtime.environment, HERE / "environments")
    try:
        if prepared.python is None:
            raise ClientError(prepared.reason)
        measures, taken = ask_client(
            prepared.python,
            HERE / "clients" / f"{runtime.client}.py",
            {**content, "logits": str(logits)},
            result=WORK / "result.json",
            environment={**os.environ, "OMP_NUM_THREADS": "1", **SETTINGS[setting]},
            limit_s=LIMIT_S,
        )
    except ClientError as error:
        if runtime.is_torch:
            raise SystemExit(f"{runtime.name}: {error}") from error
        print(f"left out: {runtime.name} ({error})", flush=True)
        logits.unlink(missing_ok=True)
        return []
    measures |= {"private_mib": taken.private_mib, "resident_mib": taken.resident_mib}
    print(setting, runtime.name, measures, flush=True)
    return [Row(setting, runtime.name, name, value) for name, value in measures.items()]


def logits_file(runtime: Runtime, setting: str) -> Path:
    """Where a client puts the logits behind every prompt."""
    return WORK / f"{runtime.client}{runtime.variant}_{setting.replace(' ', '_')}.f32"


def _compared() -> Iterator[Row]:
    """Logits beside those of fp32, and beside those by other instructions."""
    reference = read_logits(logits_file(REFERENCE, NATIVE), N_PROMPTS[NATIVE])
    for runtime in RUNTIMES:
        file = logits_file(runtime, NATIVE)
        if not file.exists():
            continue
        own = read_logits(file, N_PROMPTS[NATIVE])
        if runtime is not REFERENCE:
            values: Agreement = agreement(own, reference)
            for name, value in values._asdict().items():
                yield Row(NATIVE, runtime.name, name, value)
        if runtime.is_torch:
            plain = read_logits(logits_file(runtime, PLAIN), N_PROMPTS[PLAIN])
            is_same = plain.tobytes() == own[: len(plain)].tobytes()
            yield Row(PLAIN, runtime.name, "same bytes", float(is_same))


if __name__ == "__main__":
    main()
