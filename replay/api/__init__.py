"""Plinian: the recorded history of a cluster that runs Volcano, and its state at any moment.

The public API is what this module lists; everything else may move between releases.
"""
