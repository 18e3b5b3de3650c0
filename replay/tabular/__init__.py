"""Results as tables: typed columns for pandas and Arrow, and HTML for notebooks."""
