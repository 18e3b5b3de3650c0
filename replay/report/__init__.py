"""Reports as data: all answers about one moment, and the commands that give each of them."""
