"""How Go reads texts and calculates: numbers, booleans, regular expressions, int64."""
