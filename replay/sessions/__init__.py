"""Run one session at a moment of a log: which moments have one, its inputs, its run, its answer."""
