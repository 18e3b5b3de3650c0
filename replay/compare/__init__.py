"""Compare sessions of releases, configurations and moments, and explain their differences."""
