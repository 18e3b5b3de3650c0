"""Pictures of a log over time, as images, as a page, and in characters. Nothing is computed here."""
