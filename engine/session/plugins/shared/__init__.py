"""What several plugins use: amounts, queue demand, arguments, usage of nodes."""
