"""Invariants: sentences that hold of every sound cluster, as functions that find violations."""
