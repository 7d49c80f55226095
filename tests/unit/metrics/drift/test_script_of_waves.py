"""The script from files to file: failed calls, NULL latencies, users, and equal bytes."""

from pathlib import Path

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
LETTERS = {"w40": "AAAB", "w41": "ABAB"}


def write(folder: Path) -> dict[str, str | list[str]]:
    """Two users answer two questions in two waves; one call of the second failed, one has no time."""
    answers, forms, responses = [], [], []
    for wave, letters in LETTERS.items():
        cells = [(item, user) for item in ("i", "j") for user in ("p", "q")]
        for number, ((item, user), letter) in enumerate(zip(cells, letters, strict=True)):
            is_lost = (wave, number) == ("w41", 3)
            key = {"model": "m", "task": "t", "condition": wave, "item_id": item, "puppet_id": user}
            key["replicate"] = 0
            outcome = "failed" if is_lost else "ok"
            answers.append(
                filled(
                    Answer,
                    **key,
                    kind="choice",
                    outcome=outcome,
                    letter=None if is_lost else letter,
                    reason="failed" if is_lost else None,
                )
            )
            time = None if number == 0 or is_lost else 1.0 + number
            response = {"outcome": outcome, "dispatch": "live", "latency_s": time, "defects": []}
            responses.append(filled(Response, **key, **response, returned_model="gpt"))
            if not is_lost:
                forms.append(
                    filled(
                        FormReading, **key, words=3 + number, is_truncated=False, is_english=True
                    )
                )
    paths = {
        name: str(folder / f"{name}.parquet") for name in ("answers", "forms", "responses", "t")
    }
    tables.write_rows(paths["answers"], answers, Answer)
    tables.write_rows(paths["forms"], forms, FormReading)
    tables.write_rows(paths["responses"], responses, Response)
    tables.write_rows(paths["t"], [question("i"), question("j")], Item)
    return {
        "answers": paths["answers"],
        "forms": [paths["forms"]],
        "responses": [paths["responses"]],
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
    assert rows["accuracy"].first_value == 1.0
    assert rows["accuracy"].value == 0.75
    assert rows["latency"].n_answers == 2
    assert rows["length"].change == 0.0
    assert rows["format_failures"].value == 0.0
    assert rows["accuracy"].returned_models == "gpt"
    assert {row.look for row in rows.values()} == {1}
