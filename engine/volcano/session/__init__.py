"""Behaviours of sessions, by subject: kinds of values, and fields with their histories."""
