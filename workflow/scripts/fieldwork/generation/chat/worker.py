"""The process that holds a model: reads calls from its standard input, and writes replies as they come.

Messages begin with the number of the call that they belong to. The process ends when its input ends, in
whatever pass it is. So none outlives the run that started it, however that one ends.
usage: python -m fieldwork.generation.chat.worker
"""

import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from fieldwork.errors import StudyError
from fieldwork.generation.chat.frames import NumberedMessage, numbered_frame, read_numbered


def main() -> None:
    """Do the job that the first message names, then answer calls."""
    # Ctrl-C is for the run, which then closes this process's input
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls = sys.stdin.buffer
    # what libraries print must not come between replies
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        try:
            job = read_numbered(calls)
            if job is not None:
                _serve(json.loads(job.content), calls, replies)
        except BrokenPipeError:
            os._exit(1)


def _serve(job: dict[str, Any], calls: BinaryIO, replies: BinaryIO) -> None:
    inbox: queue.SimpleQueue[NumberedMessage] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(calls, inbox), daemon=True).start()
    try:
        if job["source"]:
            from fieldwork.generation.chat.packing import pack

            pack(Path(job["source"]), Path(job["folder"]), job["name"])
            _write(replies, 0, {})
            return
        _answer(job, inbox, replies)
    except StudyError as error:
        _write(replies, 0, {"study_error": str(error)})


def _receive(calls: BinaryIO, inbox: "queue.SimpleQueue[NumberedMessage]") -> None:
    """Take calls as they come. When the input ends, the run is gone, and nobody waits for an answer."""
    while (call := read_numbered(calls)) is not None:
        inbox.put(call)
    os._exit(0)


def _answer(
    job: dict[str, Any], inbox: "queue.SimpleQueue[NumberedMessage]", replies: BinaryIO
) -> None:
    import torch

    from fieldwork.generation.chat.answering import Responder
    from fieldwork.generation.chat.tokens import ChatTokens
    from fieldwork.generation.chat.transformer import Transformer

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    folder, device = Path(job["folder"]), "cuda" if torch.cuda.is_available() else "cpu"
    responder = Responder(Transformer(folder, device), ChatTokens(folder, job["name"]))
    _write(replies, 0, {})
    while True:
        while responder.is_idle or not inbox.empty():
            responder.add(*inbox.get())
        for number, result in responder.work():
            _write(replies, number, _reply(result))


def _reply(result: Any) -> dict[str, Any]:
    if isinstance(result, Exception):
        return {"rejection": str(result)}
    shares = result.probabilities
    return {**result._asdict(), "probabilities": None if shares is None else dict(shares)}


def _write(replies: BinaryIO, number: int, reply: dict[str, Any]) -> None:
    replies.write(numbered_frame(number, json.dumps(reply).encode()))
    replies.flush()


if __name__ == "__main__":
    main()
