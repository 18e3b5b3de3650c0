"""The sessions that a scheduler ran, as far as a log records them."""
