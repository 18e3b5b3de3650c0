"""What plugins and actions share: registration, votes, statements, traces, outcomes."""
