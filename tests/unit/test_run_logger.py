"""What `make run` prints of a failure: the sentence of the job alone, or else all that Snakemake says."""

import importlib.util
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

PLUGIN = (
    Path(__file__).parents[2] / "workflow/plugins/snakemake_logger_plugin_fieldwork/__init__.py"
)
SENTENCE = "2026-11-27 12:00:00,000 ERROR answers.csv: row 2 has no answer; complete it\n"
BUG = "Traceback (most recent call last):\nValueError: 3\n"


def error(message: str, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", logging.ERROR, "", 0, message, (), None)
    record.__dict__.update(fields)
    return record


@pytest.fixture
def printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """What is printed of jobs that failed with these logs."""
    spec = importlib.util.spec_from_file_location("fieldwork_logger", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv(module.FOLDER_VARIABLE, "")

    def run(*logs: str) -> str:
        # its settings are not read
        handler = module.LogHandler.__new__(module.LogHandler)
        logging.Handler.__init__(handler)
        handler.__post_init__()
        for number, text in enumerate(logs):
            path = tmp_path / f"{number}.log"
            path.write_text(text)
            handler.emit(error("RuleException"))
            handler.emit(error("Error in rule", event=LogEvent.JOB_ERROR, log=[str(path)]))
        handler.emit(error("WorkflowError"))
        handler.close()
        return capsys.readouterr().err

    return run


def test_a_job_that_says_what_is_wrong_is_not_repeated(printed: Callable[..., str]) -> None:
    assert printed(SENTENCE).strip() == ""


@pytest.mark.parametrize("logs", [(), (BUG,), ("",), (SENTENCE, BUG)])
def test_what_no_job_explains_is_printed(
    printed: Callable[..., str], logs: tuple[str, ...]
) -> None:
    text = printed(*logs)
    assert text.count("WorkflowError") == 1
    assert text.count("RuleException") == len(logs)
