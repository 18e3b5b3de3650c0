"""What schedulers calculate with: resources, tasks, jobs, nodes, queues, hypernodes, as values."""
