"""Measures speed and memory, each beside what it is to be better than, on this machine in one run."""
