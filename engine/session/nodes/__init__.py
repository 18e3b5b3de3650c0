"""From all nodes to one: filters, scores, sampling, candidates for eviction."""
