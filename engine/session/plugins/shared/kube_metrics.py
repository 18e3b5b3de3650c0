"""Whether kube-scheduler's metrics exist in the process: ``predicates`` registers them.

Source: plugins/predicates/predicates.go, ``metrics.Register()`` in v1.12.0 and v1.12.1.
"""

from __future__ import annotations

import msgspec


class KubeMetrics(msgspec.Struct):
    """What a process remembers.

    :ivar registered: whether ``predicates`` has prepared for a pod in this process.
    """

    registered: bool = False
