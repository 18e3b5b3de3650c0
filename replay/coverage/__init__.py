"""What a log knows and lacks at a moment, by kind and namespace."""
