"""The audit log of kube-apiserver."""
