"""The patterns of klog's headers, and of what a container runtime writes before a line.

Source: k8s.io/klog/v2 klog.go, formatHeader.
"""

from __future__ import annotations

import re

TIME = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
"""A time with its year that stands before a line, as a pattern."""

STAMP = re.compile(rb"(" + TIME + rb") (?:std(?:out|err) [FP] )?")
HEADER = re.compile(
    rb"([IWEF])(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) ([^:\]\s]+):(\d+)\] ?"
)
CRASH = re.compile(
    rb"(?:panic|fatal error|unexpected fault address|runtime): |SIG[A-Z]+: "
    rb"|goroutine \d+ \[[^\]\n]*\]:"
)
"""How the last output of a Go process begins, which has no header."""
