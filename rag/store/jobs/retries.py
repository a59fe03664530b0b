"""When what did not come to its end is tried again: later each time, and not for ever."""

PAUSES_SECONDS = (10.0, 60.0, 300.0, 1800.0)
"""After the first attempt, the second, …: a killed process is back in seconds, a full disk is not."""
MAX_ATTEMPTS = len(PAUSES_SECONDS) + 1
"""So often something may fail for want of what the machine lacks, or end its worker, before it is given up."""
RETRY_DELAYS = [*PAUSES_SECONDS]
"""As statements take them."""
