"""The JSON API: questions to a log, declared once as data, for programs and for agents."""
