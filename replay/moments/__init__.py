"""Moments of a log, its clock, and its events in the order in which they happened."""
