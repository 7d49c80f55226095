"""Scripts of rules run by forking a process that has imported what they import, most of what a job costs.

A child sees what `python script.py` would: arguments, folder, environment, streams, search path. What is
imported before is learnt: a package that two scripts imported is imported for those after them. Nothing
of the project is, as each test has a copy of its own. What is not forked: a start with more than one
thread for linear algebra, which libraries read once.

A client stands in for the interpreter: it sends its arguments, folder, environment and streams over a
socket beside it, waits, and ends as the script did. It hands on the signals that ask a script to end. A
client that is killed takes its script with it, and so does the process that forks. What is not run is the
interpreter's own end, where it frees what is imported.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

# what Snakemake sets for a job of one thread
THREADS = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")
} | {"VECLIB_MAXIMUM_THREADS": "1"}

# an import is worth its time once a third script needs it
IMPORTED_BY = 2

_PREFIX = "fieldwork-forks-"

# what asks a script to end; clients hand it on
_END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# of Linux's prctl: the signal that a process gets when its parent ends
_PARENT_DEATH_SIGNAL = 1

CLIENT = """#!{python} -IS
import signal
# until there is somebody to hand it on to, Ctrl-C ends this without a traceback
signal.signal(signal.SIGINT, signal.SIG_DFL)
import json, os, socket, sys
arguments = sys.argv[1:]
is_script = arguments and not arguments[0].startswith("-")
if not is_script or os.environ.get("OMP_NUM_THREADS", "1") != "1":
    os.execv({python!r}, [{python!r}, *arguments])
connection = socket.socket(socket.AF_UNIX)
# any folder has a short path by its number: an address has 107 bytes at most
connection.connect("/proc/self/fd/%d/socket" % os.open({folder!r}, os.O_RDONLY))
request = {{"arguments": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}}
socket.send_fds(connection, [b"."], [0, 1, 2])
connection.sendall(json.dumps(request).encode() + b"\\n")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
answer = connection.recv(16)
# no answer: the process that forks is gone
status = int(answer) if answer else 1
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


class ScriptForks:
    """The process that forks, for jobs of one environment; it ends with the process that made it.

    Args:
        imports: what it imports at once, without learning that scripts need it.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, env: Mapping[str, str], imports: Sequence[str] = ()) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.interpreter = self._folder / "python"
        self.interpreter.write_text(CLIENT.format(python=sys.executable, folder=str(self._folder)))
        self.interpreter.chmod(0o755)
        self._process = subprocess.Popen(
            # -P: modules beside this file are not to be found by their bare names
            [sys.executable, "-P", __file__, *imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder,
            env={**env, **THREADS},
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise OSError("the process that forks scripts did not start")
        atexit.register(self.close)

    def close(self) -> None:
        """End it, with the scripts that it runs."""
        atexit.unregister(self.close)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def fork_scripts() -> None:
    """Have Snakemake, whose process this is, start scripts by forks from now on; on Linux alone.

    Elsewhere libraries do not bear a fork. A rule with an interpreter of its own, such as that of a conda
    environment, keeps it.
    """
    if sys.platform != "linux" or is_fork_client(sys.executable):
        return
    # a machine that does not let it has slower steps
    with suppress(OSError):
        sys.executable = str(ScriptForks(os.environ).interpreter)


def is_fork_client(interpreter: str) -> bool:
    """Whether an interpreter stands in for one."""
    return Path(interpreter).parent.name.startswith(_PREFIX)


class _Server:
    """Accepts requests, forks a child for each, and tells a client how its child ended."""

    def __init__(self) -> None:
        self._folder = Path.cwd()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind("socket")
        self._listener.listen(64)
        self._clients: dict[int, socket.socket] = {}
        self._n_scripts: Counter[str] = Counter()
        self._selector = selectors.DefaultSelector()
        # a child's end wakes the loop
        ends, self._end_signal = socket.socketpair()
        for end in (ends, self._end_signal):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._end_signal.fileno())
        for file in (self._listener, ends, sys.stdin):
            self._selector.register(file, selectors.EVENT_READ)
        self._ends = ends

    def request(self) -> tuple[dict[str, Any], list[int]] | None:
        """In a child, what it is to run and its streams; None at the end of all."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin:
                    for child in self._clients:
                        _send(child, signal.SIGKILL)
                    shutil.rmtree(self._folder, ignore_errors=True)
                    return None
                if key.fileobj is self._ends:
                    self._ends.recv(4096)
                    self._reap()
                elif key.fileobj is self._listener:
                    if (request := self._accept()) is not None:
                        return request
                else:
                    self._hear(key.fileobj)

    def _accept(self) -> tuple[dict[str, Any], list[int]] | None:
        client, _ = self._listener.accept()
        _, streams, _, _ = socket.recv_fds(client, 1, 3)
        with client.makefile("rb") as lines:
            line = lines.readline()
        child = os.fork()
        if not child:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, *_END_SIGNALS):
                signal.signal(number, signal.SIG_DFL)
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            for other in (
                *self._clients.values(),
                client,
                self._listener,
                self._ends,
                self._end_signal,
            ):
                other.close()
            self._selector.close()
            return json.loads(line), streams
        for stream in streams:
            os.close(stream)
        self._clients[child] = client
        # what it sends from now on are signals, or its end
        self._selector.register(client, selectors.EVENT_READ)
        return None

    def _hear(self, client: Any) -> None:
        """Hand on a signal; kill the script of a client that is gone."""
        numbers = client.recv(16)
        for child, other in self._clients.items():
            if other is client:
                for number in numbers or [signal.SIGKILL]:
                    _send(child, number)
        if not numbers:
            self._selector.unregister(client)

    def _reap(self) -> None:
        while self._clients:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            client = self._clients.pop(child)
            with suppress(OSError):
                client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            with suppress(KeyError):
                self._selector.unregister(client)
            client.close()
            self._learn(self._folder / f"{child}.json")

    def _learn(self, file: Path) -> None:
        if not file.exists():
            return  # it was killed
        names = json.loads(file.read_text())
        file.unlink()
        self._n_scripts.update(names)
        names_to_import = [
            n for n in names if self._n_scripts[n] >= IMPORTED_BY and n not in sys.modules
        ]
        _import(names_to_import)


def _import(names: Iterable[str]) -> None:
    gc.disable()
    for name in names:
        # some can only be imported by those that do, and old names warn
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            importlib.import_module(name)
    gc.enable()
    # children that looked through what is imported would copy all of its memory, and what libraries
    # take down at their end ends with the process
    gc.freeze()
    for end in weakref.finalize._registry:  # type: ignore[attr-defined]
        end.atexit = False


def _send(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child, number)


def run_script(request: Mapping[str, Any], streams: Sequence[int], folder: Path) -> int:
    """Be `python script.py` to the end; the exit status."""
    sys.excepthook = _print_error
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["arguments"]
    script, n_imported = Path(sys.argv[0]), len(sys.modules)
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [str(script.parent.absolute()), *filter(None, entries)]
    if "numpy.random" in sys.modules:
        # seeded when it is imported; the library `random` sees to it itself
        sys.modules["numpy.random"].seed()
    main = ModuleType("__main__")
    main.__file__ = str(script)
    sys.modules["__main__"] = main
    try:
        exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)
    except SystemExit as end:
        return _status_of(end)
    finally:
        (folder / f"{os.getpid()}.json").write_text(json.dumps(_packages(n_imported)))
    return 0


def _exit_status(request: Mapping[str, Any], streams: Sequence[int], folder: Path) -> int:
    """How a script ends, its error printed as the interpreter would; negative for a signal."""
    try:
        try:
            return run_script(request, streams, folder)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
            is_interrupted = isinstance(error, KeyboardInterrupt)
            raise SystemExit(-signal.SIGINT if is_interrupted else 1) from error
    except SystemExit as end:
        return _status_of(end)


def _print_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback that begins in the script; of Ctrl-C, a sentence."""
    if issubclass(kind, KeyboardInterrupt):
        print("ERROR: interrupted; the same command continues from there", file=sys.stderr)
        return
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def _status_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _packages(n_imported: int) -> list[str]:
    """Modules of installed packages that came after the first, in the order of their imports."""
    roots = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    # from the end: who looks at a module copies its memory
    names = [*islice(reversed(sys.modules), len(sys.modules) - n_imported)]
    specs = {name: getattr(sys.modules[name], "__spec__", None) for name in reversed(names)}
    return [
        name
        for name, spec in specs.items()
        if spec is not None and str(spec.origin).startswith(roots)
    ]


def main() -> None:
    """Serve until standard input ends, in children until a script does."""
    for number in _END_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    folder, server = Path.cwd(), _Server()
    print("ready", flush=True)
    _import(sys.argv[1:])
    request = server.request()
    if request is None:
        os._exit(0)
    status = _exit_status(*request, folder)
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    if status == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


if __name__ == "__main__":
    main()
