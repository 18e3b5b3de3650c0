"""From files to documents: archives, compression, lines, JSON, limits, and the format interface."""
