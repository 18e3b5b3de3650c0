"""Benchmarks: every hot path against a peer or a limit, measured in the same run."""
