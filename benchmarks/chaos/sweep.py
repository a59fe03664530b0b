"""`python -m benchmarks.chaos.sweep`: run the worker's cleanup of orphans without its age limit."""

import datetime as dt

from rag.config import load_config
from rag.engine import Installation

if __name__ == "__main__":
    with Installation(load_config()) as installation:
        installation.cleanup.finish_deletions(dt.timedelta(0))
        print(installation.cleanup.find_orphans(delete=True, older_than=dt.timedelta(0)))
