"""An environment for each peer, exact, beside the benchmark and never in the project's own."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).parent / ".environments"
INSTALL_S = 600


class Prepared(NamedTuple):
    """A peer's Python, or why there is none."""

    python: Path | None
    reason: str


def prepare_peers(
    packages: Mapping[str, str], asked: list[str], pins_folder: Path
) -> Iterator[tuple[str, Prepared, str]]:
    """Each peer with its version, empty where it is left out: not asked for, or not to be installed.

    Args:
        packages: the one whose version a peer goes by.
    """
    for tool, package in packages.items():
        prepared = Prepared(None, "not asked for")
        if tool in asked:
            prepared = prepare(tool, pins_folder)
        yield tool, prepared, pinned(package, tool, pins_folder) if prepared.python else ""


def prepare(tool: str, pins_folder: Path) -> Prepared:
    """Install a peer unless its pins are installed already."""
    pins, home = pins_folder / f"{tool}.txt", HOME / tool
    python, stamp = home / "bin" / "python", home / "installed.txt"
    wanted = pins.read_text(encoding="utf-8")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return Prepared(python, "")
    print(f"installing {tool} into {HOME.name}/{tool}", flush=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", *quiet, "-r", pins], check=True, timeout=INSTALL_S
        )
    except subprocess.CalledProcessError as error:
        return Prepared(None, f"could not be installed: exit status {error.returncode}")
    except subprocess.TimeoutExpired:
        return Prepared(None, f"could not be installed within {INSTALL_S} s")
    stamp.write_text(wanted, encoding="utf-8")
    return Prepared(python, "")


def pinned(tool_package: str, tool: str, pins_folder: Path) -> str:
    """The version that is measured."""
    for line in (pins_folder / f"{tool}.txt").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        if name == tool_package:
            return version
    raise ValueError(f"{pins_folder.name}/{tool}.txt does not pin {tool_package}")
