"""What every client of Kubernetes knows: objects, quantities, texts, selectors, resources."""
