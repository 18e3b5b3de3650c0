"""The ids of all invariants, for completion: importing their functions takes too long."""

from __future__ import annotations

IDS = (
    *("I-01", "I-01b", "I-03", "I-04", "I-05", "I-05b", "I-05c", "I-06", "I-07", "I-08"),
    *("I-10", "I-11", "I-11b", "I-12", "I-13", "I-15", "I-15b", "I-21", "I-22"),
)
"""In their order."""
