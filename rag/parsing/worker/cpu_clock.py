"""What a process has computed, as against the time that has gone by: on a busy machine these are far apart."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def limit_cpu(seconds: float) -> None:
    """Ends this process by SIGPROF when it has computed for so long since its start, even while MuPDF hangs.

    No Python handler: it would wait for MuPDF to return. And no RLIMIT_CPU, which counts whole seconds.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, max(seconds - time.process_time(), 1e-3))


def cpu_seconds(pid: int) -> float:
    """What the process `pid`, without its children, has computed so far; 0 if it is gone. Any process may be asked."""
    if sys.platform == "linux":
        try:
            # The name of the program, in brackets, may have spaces (proc(5)).
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    listed = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return _seconds(listed.stdout.strip())


def _seconds(shown: str) -> float:
    """Hours, minutes and seconds, as in 1:02:03.50 or 2:03.50, in seconds."""
    seconds = 0.0
    for part in shown.split(":"):
        seconds = 60 * seconds + float(part or 0)
    return seconds


class Idleness:
    """How long a process has done nothing: neither computed nor told of any progress."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._computed = -1.0
        self._since = time.monotonic()

    def note(self) -> None:
        """It has made progress."""
        self._since = time.monotonic()

    def seconds(self) -> float:
        """Since it was last seen at work, by the clock."""
        computed = cpu_seconds(self._pid)
        if computed != self._computed:
            self._computed = computed
            self.note()
        return time.monotonic() - self._since
