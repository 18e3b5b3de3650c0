"""Whether manifests that are not applied yet would start at a moment: admitted, placed, or why not."""
