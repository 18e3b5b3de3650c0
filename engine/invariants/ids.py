"""The ids of all invariants, for completion: importing their functions takes too long."""

from __future__ import annotations

IDS = (
    *("I-01", "I-01b", "I-02", "I-02b", "I-02c", "I-02d", "I-03", "I-03b", "I-04"),
    *("I-05", "I-05b", "I-05c", "I-06", "I-06b", "I-07", "I-08", "I-09", "I-09b"),
    *("I-10", "I-11", "I-11b", "I-12", "I-12b", "I-12c", "I-12d", "I-12e", "I-13", "I-14"),
    *("I-15", "I-15b", "I-15c", "I-16", "I-17", "I-18", "I-19", "I-19b"),
    *("I-20", "I-21", "I-22", "I-23", "I-24", "I-24b"),
)
"""In their order."""
