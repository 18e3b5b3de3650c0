"""Packs: a slice of a log in one file, to send to somebody else."""
