"""Lists and single objects, as JSON or YAML."""
