"""The command line: one module per command; none of them computes anything."""
