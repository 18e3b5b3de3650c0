"""Changes of a cluster as clients watch them, and the moment that is served."""
