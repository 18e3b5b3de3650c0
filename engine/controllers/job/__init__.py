"""Volcano's job controller as a component (vc-controller-manager, pkg/controllers/job).

Left out are what no case was recorded of, and what no race turns on: volumes of jobs, plugins such
as ``svc`` and ``ssh``, queues that forward to other clusters, and events about unschedulable
PodGroups.
"""
