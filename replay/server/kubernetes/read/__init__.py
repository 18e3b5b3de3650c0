"""Objects and lists of a cluster at a moment, discovery, schemas and versions."""
