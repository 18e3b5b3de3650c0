"""HyperNodes of a session, and those that jobs were allocated to."""
