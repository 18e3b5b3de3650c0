"""Kinds and fields of objects: their names, their selectors, and how two versions differ."""
