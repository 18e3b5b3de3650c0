"""The JSON API: questions to a log, declared once as data, for programs over HTTP and for agents."""
