"""Scenario files, and inputs of sessions that are not Kubernetes objects."""
