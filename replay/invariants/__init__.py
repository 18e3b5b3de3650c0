"""Invariants over a log: at one moment, or from its begin to its end in one pass."""
