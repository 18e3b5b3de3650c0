"""An open log, and what people name in it: moments, objects, sessions, branches."""
