"""What a request to the API server asks, and how its answer is written: paths, parts, status."""
