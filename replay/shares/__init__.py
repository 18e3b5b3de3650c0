"""What queues are entitled to at a moment, what they hold, and what could be reclaimed."""
