"""Answers as data: why something waits, since when, and which events made a number what it is."""
