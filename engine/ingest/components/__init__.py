"""What Volcano's components print: logs and cache dumps."""
