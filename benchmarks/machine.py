"""What a benchmark ran on, in words that name no machine."""

import os
import platform
from pathlib import Path


def facts() -> dict[str, str]:
    """Cores, memory, CPU, kernel and Python."""
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory_gib():.0f} GiB",
        "cpu": _cpu(),
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
    }


def sentence() -> str:
    """All facts."""
    return ", ".join(f"{name} {value}" for name, value in facts().items())


def memory_gib() -> float:
    """All of it, used or not."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
