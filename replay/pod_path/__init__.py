"""The path of one pod through a session: every check in order, and each node by each filter."""
