"""Behaviours of the controllers, by subject: fields, kinds of values, and rows."""
