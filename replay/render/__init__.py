"""Output for people and programs: tables, documents, differences. Nothing is computed here."""
