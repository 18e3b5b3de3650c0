"""The scheduler's cache, and the handlers that build it from objects."""
