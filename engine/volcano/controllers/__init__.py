"""Behaviours of the controllers, by subject: kinds of values, and fields with their histories."""
