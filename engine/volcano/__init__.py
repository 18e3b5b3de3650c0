"""Volcano's releases: which of them behaves how, and the configuration that they read."""
