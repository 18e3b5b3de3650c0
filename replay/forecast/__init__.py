"""What if, over time: a cluster that lives on from a moment of a log, as it was and changed."""
