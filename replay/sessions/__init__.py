"""Run one session at a moment of a log: its inputs, its run, its answer."""
