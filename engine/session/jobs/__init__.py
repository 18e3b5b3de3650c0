"""The jobs of a session and the groups within them, counted by status."""
