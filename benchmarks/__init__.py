"""Benchmarks of speed, memory and quality; each also measures a baseline in the same run."""
