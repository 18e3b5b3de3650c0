"""The scheduler's cache at a moment, and where it differs from the API server."""
