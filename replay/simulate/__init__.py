"""Scenarios run: a cluster's short history goes through a scheduler's cache and its sessions."""
