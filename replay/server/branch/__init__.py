"""A branch of a log that is served and changed: its writes are events of the branch."""
