"""Sessions held against each other: of releases, configurations, moments; and why they part."""
