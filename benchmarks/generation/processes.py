"""The loopback server and the clients, each a process of its own; nothing leaves this machine."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import ClientError, ask_client

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
CLIENT_S = 240
NOWHERE = "http://127.0.0.1:9"


@contextmanager
def serving(arguments: Sequence[str]) -> Iterator[str]:
    """A server for the length of the block; its address, up to `/v1`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "servers.provider", *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        text=True,
    )
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        if not port.isdigit():
            raise ClientError("the loopback server does not start")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=10)


def ask(
    python: Path, client: str, job: Mapping[str, Any], arguments: Sequence[str] = ()
) -> dict[str, float]:
    """Have a client do a job; what it measured.

    Raises:
        ClientError: it failed, took too long, or answered less than everything.
    """
    result = Path(job["result"])
    measured, _ = ask_client(
        python,
        CLIENTS / client,
        job,
        arguments,
        result=result,
        environment=environment(python),
        limit_s=CLIENT_S,
        folder=result.parent,
    )
    if measured["answered"] != job["n"]:
        raise ClientError(f"{client}: {measured['answered']:.0f} of {job['n']} answered")
    return measured


def environment(python: Path) -> dict[str, str]:
    """Of a client: no telemetry, no downloads, and a proxy that leads nowhere for all but loopback."""
    # Curator counts with a vocabulary that litellm carries, and would download it otherwise
    carried = python.parents[1].glob("lib/python3*/site-packages/litellm/litellm_core_utils")
    vocabularies = str(next(carried, Path("none")) / "tokenizers")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "TIKTOKEN_CACHE_DIR": vocabularies,
        "HOME": str(CLIENTS.parents[1] / ".work" / "home"),
        "PYTHONPATH": str(ROOT / "workflow" / "scripts") if python == Path(sys.executable) else "",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "TELEMETRY_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "CURATOR_DISABLE_RICH_DISPLAY": "1",
        "OPENAI_API_KEY": "none",
    }
