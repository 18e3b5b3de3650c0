"""What an API server makes of a write: checked, filled in, patched, and stored on a branch."""
