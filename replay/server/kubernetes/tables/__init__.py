"""The columns that kubectl shows of each kind."""
