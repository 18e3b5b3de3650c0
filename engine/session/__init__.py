"""One scheduling session: a pure function from a snapshot to decisions."""
