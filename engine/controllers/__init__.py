"""What acts on a cluster beside Volcano's scheduler, as code that can be stopped at any step."""
