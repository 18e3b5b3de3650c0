"""The log at a moment: points, truth, belief, differences, history, coverage."""
