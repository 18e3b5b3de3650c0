"""The steps of the schema, one module each, in one line."""
