"""Behaviours of the scheduler's cache, by subject: kinds of values, fields with histories."""
