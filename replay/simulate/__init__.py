"""Run scenarios: deliver a cluster's short history to a scheduler's cache, and run its sessions."""
