"""Answers as HTML: pages and parts of pages, from templates. Nothing is computed here."""
