"""What if: a moment of a log with something changed, and the session that then runs."""
