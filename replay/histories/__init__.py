"""The history of an object, and what differs between two moments."""
