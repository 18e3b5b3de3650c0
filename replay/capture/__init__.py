"""A live cluster into a log: listed and watched, resumed, and repaired where it was cut."""
