"""From an object to the event of one of its versions, and what is stored of it."""
