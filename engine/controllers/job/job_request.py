"""Requests: what the job controller's workers take out of their queue."""

from __future__ import annotations

from typing import NamedTuple

from .job_names import JobEvent


class JobRequest(NamedTuple):
    """Something has happened to a job, or is to be done with it; equal requests wait once.

    :param action: what a command asks for; empty lets policies decide.
    :param job_uid, pod, pod_uid: of the pod that it is about; releases before v1.11 name none.
    :param version: of the job that the pod was made for, as :attr:`.job_status.version`.

    Source: pkg/controllers/apis/request.go Request.
    """

    namespace: str
    job: str
    event: str = JobEvent.NONE
    action: str = ""
    job_uid: str = ""
    task: str = ""
    pod: str = ""
    pod_uid: str = ""
    partition: str = ""
    exit_code: int = 0
    version: int = 0

    @property
    def key(self) -> str:
        """The key of the job: ``namespace/name``."""
        return f"{self.namespace}/{self.job}"
