"""The Python API: every command of the command line as a method or a function."""
