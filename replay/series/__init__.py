"""The state of a cluster for other programs: tables over time, a timeline, snapshots."""
