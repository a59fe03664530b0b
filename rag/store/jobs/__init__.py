"""Job queue, scheduling and locks."""
