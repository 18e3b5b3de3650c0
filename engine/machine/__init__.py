"""A whole cluster as a machine: components, channels between them, and every order of steps."""
