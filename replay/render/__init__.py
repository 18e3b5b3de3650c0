"""How answers look: tables and documents, from values that were computed elsewhere."""
