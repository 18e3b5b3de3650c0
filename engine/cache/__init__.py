"""What one scheduler believes: its cache, and the infos that its handlers make of objects."""
