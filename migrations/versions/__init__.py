"""The steps of the schema, one module each, in a linear order."""
