"""The command line: one module a command, none of which computes anything."""
