"""The web page of a log: every look at it is a link, and ``.json`` has the same data."""
