"""What people and programs see: tables, documents, differences. Nothing is computed here."""
