"""A cluster's API server: as it was at a moment, read-only, or a branch that clients change."""
