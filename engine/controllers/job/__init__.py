"""Volcano's job controller (vc-controller-manager, pkg/controllers/job) as a component."""
