"""Behaviours of the scheduler's cache, by subject: fields, kinds of values, and rows."""
