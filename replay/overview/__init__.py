"""What is wrong at a moment: problems, the worst first, and what was done shortly before."""
