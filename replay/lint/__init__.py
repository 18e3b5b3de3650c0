"""Check queues, jobs and configurations before they are applied: what each release would do."""
