"""Attacks that are run at length: each gives figures, and is the same for the same seed."""
