"""Sessions held against each other: of releases, configurations, moments, and what makes them part."""
