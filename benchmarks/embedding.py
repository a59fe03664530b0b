"""Compare our embedding throughput with the usual way, one large padded batch."""

import json
import subprocess
import sys
from typing import NamedTuple

import numpy as np

from benchmarks import material
from benchmarks.report import Section, at_least
from benchmarks.settings import Options

SHARES = (0, 1, 10, 25, 50, 75, 90, 99, 100)
CHARACTERS = (200, 285, 534, 789, 1065, 1222, 1292, 1395, 1500)
"""Text lengths in characters at each of the percentiles `SHARES`: those of 13,000 chunks of some fifty real reports,
papers and slides with their headers. Chunks end at paragraphs and sections."""
TEXTS, QUICK_TEXTS = 256, 2
BATCH = 256


class Run(NamedTuple):
    """The result of one process: the time for all texts and its peak memory."""

    seconds: float
    megabytes: float


def measure(options: Options, section: Section) -> None:
    """Run both in fresh processes; loading the model is not counted."""
    count = QUICK_TEXTS if options.quick else TEXTS
    rng = np.random.default_rng(2)
    lengths = np.interp(rng.uniform(0, 100, count), SHARES, CHARACTERS)
    texts = [material.text(rng, int(characters)) for characters in lengths]
    section.about = f"{count} texts of {CHARACTERS[0]} to {CHARACTERS[-1]} characters, {lengths.mean():.0f} on average"
    ours, batch = run("ours", texts), run("batch", texts)
    section.add("ours: one text per run, on each core", count / ours.seconds, "chunks/s")
    section.add(f"onnxruntime: batch of {min(BATCH, count)}, padded, 2 threads", count / batch.seconds, "chunks/s")
    section.add("speedup of ours", batch.seconds / ours.seconds, "×", at_least(4))
    section.add("peak memory, ours", ours.megabytes, "MB")
    section.add("peak memory, onnxruntime", batch.megabytes, "MB")


def run(way: str, texts: list[str]) -> Run:
    """Embed `texts` in a separate process."""
    command = [sys.executable, "-m", "benchmarks.embedding_process", way]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"embedding failed: {done.stderr[-2000:]}")
    return Run(*json.loads(done.stdout))
