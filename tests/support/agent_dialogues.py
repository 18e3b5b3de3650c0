"""Dialogues of people with an agent that has the skills, about the recording of the demo.

What the agent has to find out was read in the recording by hand: ``actions.jsonl`` beside it says
what its driver did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TIME = "2026-11-21T01:53:36Z"


class Dialogue(NamedTuple):
    """A dialogue.

    :param says: what a person says, in several ways. :param words: what the agent replaces
        placeholders with. :param facts: what the answer to each step must have, by its number: the
        command's and the tool's.
    :param log: the log that it is about.
    """

    skill: str
    says: tuple[str, ...]
    words: Mapping[str, str]
    facts: Mapping[int, tuple[str, ...]]
    log: str = "demo"


FILES = {
    "queue.yaml": """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: wrong}
spec: {weight: 1, parent: absent, reclaimable: true}
""",
    "job.yaml": """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: new, namespace: default}
spec:
  minAvailable: 2
  queue: gold
  schedulerName: volcano
  tasks:
  - name: w
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - {name: c, image: busybox, resources: {requests: {cpu: "2", memory: 1Gi}}}
""",
}
"""The files that people give, by the names that they have in dialogues."""

DIALOGUES = (
    Dialogue(
        "why-pending",
        (
            "gpu-2 has been pending for half a minute although GPUs are free. Why?",
            "My training job is stuck and does not start.",
            "Why is this pod unschedulable?",
        ),
        {"OBJECT": "job/default/gpu-2", "MOMENT": TIME, "NODE": "node-4", "RESOURCE": "cpu"},
        {
            1: ("job default/gpu-2 waits because none of 5 nodes", "job default/gpu-3 waits"),
            2: ("4 nodes lack cpu (the nearest, node-4, lacks 1500m cpu)", "node-2 has no nvidia"),
            3: ("pod/default/train-a-worker-3", "pod/default/mixed-exec-0"),
            4: ("one more node like node-3", "job default/gpu-1 is gone"),
        },
    ),
    Dialogue(
        "why-evicted",
        (
            "train-b lost its worker 3. Who evicted it?",
            "Some of my pods disappeared last night: were they preempted?",
            "Who deleted my pod, and why was it killed?",
        ),
        {
            "NAMESPACE": "default",
            "NAME": "train-b-worker-3",
            "NODE": "node-1",
            "FROM": TIME,
            "TO": "2026-11-21T01:53:40Z",
            "QUEUE": "silver",
            "MOMENT": TIME,
        },
        {
            1: ("train-b-worker-3", "mixed-exec-2", "kubernetes-admin"),
            2: ("pod.evicted", "kubernetes-admin", "EvictionByEvictionAPI"),
            3: ("spec.unschedulable", "kubernetes-admin"),
            4: ("queue silver", "12"),
        },
    ),
    Dialogue(
        "why-evicted",
        ("Volcano took my worker away. For which job was it reclaimed?",),
        {"NAMESPACE": "team-b", "NAME": "job-049-adhoc-w-0"},
        {
            2: (
                "Evicting pod team-b/job-049-adhoc-w-0, because of reclaim",
                "<team-b/job-049-adhoc-w-0> for Tasks <default/job-073-research-exec-12>",
            )
        },
        log="scheduler",
    ),
    Dialogue(
        "queue-share",
        (
            "Team silver says that gold takes all GPUs. Does the queue silver get its fair share?",
            "Who uses all the capacity of this queue?",
            "How much of its quota does my team have?",
        ),
        {
            "QUEUE": "silver",
            "MOMENT": TIME,
            "RESOURCE": "cpu",
            "FROM": TIME,
            "TO": "2026-11-21T01:54:11Z",
        },
        {
            1: ("12 of 12 cpu", "job default/train-b", "64Gi"),
            2: ("silver", "gold", "bronze"),
            3: ("pod/default/train-b-worker-3", "12"),
            4: ("silver", "3500"),
            5: ("silver", "capability"),
        },
    ),
    Dialogue(
        "queue-audit",
        (
            "Please review our queues: is anything misconfigured?",
            "Can you lint the queues of this cluster?",
            "Who changed the weight of the queue silver?",
        ),
        {"QUEUE": "silver", "MOMENT": TIME, "FILE": "queue.yaml"},
        {
            1: ("needs cpu 24 at once, but queue 'silver' may use cpu 16", "pod-above-every-node"),
            2: ("it is about a range of the log",),
            3: ("silver", "reclaimable", "64Gi"),
            4: ("queue.created", "kubernetes-admin"),
            5: ("Queue wrong", "queue-refused-without-parent"),
        },
    ),
    Dialogue(
        "would-it-start",
        (
            "Would gpu-2 start if we add a node like node-3?",
            "What if we delete that job: would mine fit?",
            "How long until my job starts, and what would help?",
            "Would this manifest start if I apply it now, and on which nodes?",
        ),
        {
            "OBJECT": "job/default/gpu-2",
            "MOMENT": TIME,
            "NODE": "node-3",
            "DURATION": "40s",
            "FILE": "job.yaml",
            "MANIFEST": FILES["job.yaml"],
        },
        {
            1: ("one more node like node-3", "now", "job default/train-b is gone"),
            2: ("default/gpu-2-gpu-0", "node-3-new-1"),
            3: ("job default/gpu-2", "gold"),
            4: ("job default/new",),
        },
    ),
    Dialogue(
        "upgrade-safe",
        (
            "We run v1.12.1. Is it safe to upgrade Volcano to v1.15.1?",
            "What would the new version of Volcano have decided differently?",
            "Since which release is this pod placed?",
        ),
        {
            "RELEASE": "v1.12.1",
            "NEXT": "v1.15.1",
            "MOMENT": "rv:376",
            "NAMESPACE": "default",
            "POD": "train-a-ps-0",
        },
        {
            1: ("no release of Volcano is known",),
            2: ("running_when", "110"),
            3: ("default/train-a-180202c9", "Inqueue"),
            4: ("train-a-ps-0", "v1.15.1"),
            5: ("running_when",),
        },
    ),
    Dialogue(
        "send-incident",
        (
            "Can we send this incident to the maintainers, without our names in it?",
            "I want to attach a recording to a bug report, but redact it first.",
            "Share this with a colleague.",
        ),
        {
            "OBJECT": "job/default/gpu-2",
            "MOMENT": TIME,
            "DURATION": "20s",
            "QUESTION": "why does gpu-2 wait?",
        },
        {
            1: ("4 nodes lack cpu",),
            2: ("slice", "answer"),
            3: ("verified", "as expected"),
            4: ("verified", "why does gpu-2 wait?"),
        },
    ),
)
