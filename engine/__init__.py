"""Everything that computes: events, log, state, cache, sessions, releases."""
