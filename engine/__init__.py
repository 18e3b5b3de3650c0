"""What must be true: events, ingest, the log and the state that is folded from it."""
