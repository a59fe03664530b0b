"""Limit and measure the CPU time of processes, which on a busy machine is far below the wall-clock time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def limit_cpu(seconds: float) -> None:
    """End this process by SIGPROF after `seconds` of CPU time since its start, even while MuPDF hangs.

    A Python handler would wait for MuPDF to return, and RLIMIT_CPU counts whole seconds.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, max(seconds - time.process_time(), 1e-3))


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of the process `pid` without its children; 0 if it has ended."""
    if sys.platform == "linux":
        try:
            # The program's name, in brackets, may have spaces (proc(5)).
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    listed = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=False)
    seconds = 0.0
    for part in listed.stdout.strip().split(":"):  # 1:02:03.50 or 2:03.50
        seconds = 60 * seconds + float(part or 0)
    return seconds


class Idleness:
    """Measures how long a process has used no CPU time and made no progress."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._computed = -1.0
        self._since = time.monotonic()

    def reset(self) -> None:
        """Restart the measurement because of progress."""
        self._since = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds since the last activity."""
        computed = cpu_seconds(self._pid)
        if computed != self._computed:
            self._computed = computed
            self.reset()
        return time.monotonic() - self._since
