"""docs/python.md: its code runs, and prints what the page says that it prints."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/python.md"


def test_the_page_takes_a_frame_to_an_estimate() -> None:
    text = PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, str(PAGE), "exec"), {})
    assert printed.getvalue() == shown
