"""The script from files to file: failed calls, NULL latencies, users, and equal bytes."""

from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.records.answer_form import FormReading
from fieldwork.records.drift import Drift
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from metrics import measure_drift
from unit.metrics.findings.finding_rows import filled
from unit.metrics.metric_frames import question

WAVES = {"w40": "2026-W40", "w41": "2026-W41"}
OK = {"outcome": "ok", "reason": None}
LETTERS = {"w40": "AAAB", "w41": "ABAB"}


def write(folder: Path) -> dict[str, Any]:
    """Two users answer two questions in two waves; one call of the second failed, one has no time."""
    rows: dict[type[Any], list[Any]] = {Answer: [], FormReading: [], Response: []}
    for wave, letters in LETTERS.items():
        cells = [(item, user) for item in ("i", "j") for user in ("p", "q")]
        for number, ((item, user), letter) in enumerate(zip(cells, letters, strict=True)):
            is_lost = (wave, number) == ("w41", 3)
            key = {"task": "t", "condition": wave, "item_id": item, "puppet_id": user}
            end = dict.fromkeys(("outcome", "reason"), "failed") if is_lost else OK
            answer = end | {"kind": "choice", "letter": None if is_lost else letter}
            rows[Answer].append(filled(Answer, **key, **answer))
            time = None if number == 0 or is_lost else 1.0 + number
            call = {"outcome": end["outcome"], "dispatch": "live", "latency_s": time, "defects": []}
            rows[Response].append(filled(Response, **key, **call, returned_model="gpt"))
            if not is_lost:
                form = {"words": 3 + number, "is_truncated": False, "is_english": True}
                rows[FormReading].append(filled(FormReading, **key, **form))
    rows[Item] = [question("i"), question("j")]
    names = {Answer: "answers", FormReading: "forms", Response: "responses", Item: "t"}
    paths = {name: str(folder / f"{name}.parquet") for name in names.values()}
    for row_type, name in names.items():
        tables.write_rows(paths[name], rows[row_type], row_type)
    return {
        "answers": paths["answers"],
        **{name: [paths[name]] for name in ("forms", "responses")},
        "questions": [paths["t"]],
    }


def test_the_table_from_files(tmp_path: Path) -> None:
    inputs = write(tmp_path)
    outputs = [tmp_path / f"drift{k}.parquet" for k in (1, 2)]
    for path in outputs:
        series = dict.fromkeys(WAVES, "w40")
        measure_drift.main(**inputs, drift=str(path), waves=WAVES, series=series, seed=1)  # type: ignore[arg-type]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    rows = {row.measure: row for row in tables.read_rows(outputs[0], Drift)}
    assert set(rows) == {"accuracy", "letters", "length", "refusals", "format_failures", "latency"}
    # the call that failed takes its cell from both waves; users stay apart
    assert rows["accuracy"].n_answers == rows["accuracy"].n_first_answers == 3
    assert (rows["accuracy"].first_value, rows["accuracy"].value) == (1.0, 0.75)
    assert rows["latency"].n_answers == 2
    assert (rows["length"].change, rows["format_failures"].value) == (0.0, 0.0)
    assert rows["accuracy"].returned_models == "gpt"
    assert {row.look for row in rows.values()} == {1}
