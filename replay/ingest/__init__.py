"""From inputs to a log: read, order, append."""
