"""Where the scheduler's cache differs from the API server, and since when."""
