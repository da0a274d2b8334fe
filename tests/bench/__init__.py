"""Benchmarks. `python -m tests.bench` runs them; each compares with a baseline in the same run and prints a ratio."""
