"""Questions about a log: each is declared once, and all doors read its declaration."""
