"""Search among the possible orders of a cluster's steps: races found, worded, and replayed."""
