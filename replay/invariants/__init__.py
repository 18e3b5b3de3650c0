"""Invariants over a log: at one moment, or from beginning to end in one pass."""
