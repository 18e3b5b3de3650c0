"""Expressions that choose objects or parts of them: selectors, JSONPath, CEL."""
