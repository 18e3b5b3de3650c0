"""Behaviours of sessions, by subject: fields, kinds of values, and the rows that date them."""
