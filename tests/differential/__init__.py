"""Sessions beside the real scheduler: scenarios that combine all features, and a comparison.

``PYTHONPATH=tests:tests/support python -m differential generate DIR --seeds 0:100`` writes
scenarios, and ``… compare DRIVER --release v1.15.1 CASE…`` compares sessions with what a real
scheduler did.
A *driver* is any program that takes a scenario's path as its argument and prints a result in the
long form (``docs/how-to/scenarios.md``); none is part of this repository.
"""
