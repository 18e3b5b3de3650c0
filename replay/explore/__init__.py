"""Search among the possible orders of a cluster's steps: races found, put into words, and replayed."""
