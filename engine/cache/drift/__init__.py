"""Where the scheduler's cache and the API server differ, and since when."""
