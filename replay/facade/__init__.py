"""What Python can ask: every command of the command line as a method or a function."""
