"""Parts of kube-scheduler that Volcano uses: selectors, sums of requests, the view of nodes."""
