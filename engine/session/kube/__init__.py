"""What the scheduler takes over from kube-scheduler: its selectors, its sums, its view of nodes."""
