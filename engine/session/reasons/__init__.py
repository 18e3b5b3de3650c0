"""Why nodes do not take a task: statuses of filters, and the sentence made of them."""
