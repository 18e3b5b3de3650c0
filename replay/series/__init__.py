"""The state of a cluster over time, for other programs: tables of samples, and a timeline."""
