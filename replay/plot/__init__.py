"""Pictures of a log over time: images, pages, and characters. Nothing is computed here."""
