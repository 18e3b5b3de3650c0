"""Whether manifests that are not applied yet would start at a moment: when, where, or why not."""
