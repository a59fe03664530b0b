"""`python -m benchmarks.chaos.sweep`: what the worker sweeps away when it is a day old, at once; nobody is at work."""

import datetime as dt

from rag.config import load_config
from rag.engine import Installation

if __name__ == "__main__":
    with Installation(load_config()) as installation:
        installation.cleanup.finish_deletions(dt.timedelta(0))
        print(installation.cleanup.sweep(mend=True, older_than=dt.timedelta(0)))
