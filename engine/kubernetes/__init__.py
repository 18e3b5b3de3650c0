"""Kubernetes as its clients see it: objects, quantities, texts, selectors, resources."""
