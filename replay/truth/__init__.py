"""The state of the API server at a moment, folded from the events of a log."""
