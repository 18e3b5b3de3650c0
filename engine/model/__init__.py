"""The scheduler's data: resources, tasks, jobs, nodes, queues, hypernodes."""
