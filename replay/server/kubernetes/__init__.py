"""The Kubernetes API of the past: a cluster's API server as it was at a moment, read-only."""
