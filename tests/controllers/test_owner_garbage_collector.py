"""Kubernetes' garbage collector deletes what has lost all its owners, and nothing else."""

from __future__ import annotations

from running_components import RunningComponents

from plinian.engine.controllers.owner_garbage_collector import OwnerGarbageCollector
from plinian.engine.kubernetes.api_server import Document

JOB, POD = "default/train", "default/train-0"


def _object(kind: str, name: str, *owners: Document) -> Document:
    references = [
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
        for owner in owners
    ]
    metadata = {"name": name, "namespace": "default", "ownerReferences": references}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {}}


def _run() -> RunningComponents:
    run = RunningComponents(OwnerGarbageCollector(("Job", "Pod")))
    run.create(_object("Job", "train"))
    run.create(_object("Job", "other"))
    return run


def test_what_a_deleted_object_owned_is_deleted_with_its_uid() -> None:
    run = _run()
    run.create(_object("Pod", "train-0", run.api.get("Job", JOB)))
    run.create(_object("Pod", "free"))
    run.create(_object("Pod", "other-0", run.api.get("Job", "default/other")))
    run.api.delete("Job", JOB)
    run.settle()
    assert run.names("Pod") == ["free", "other-0"]
    (sent,) = (one for one in run.client.requests if one["do"].startswith("delete"))
    assert sent["uid"]


def test_an_object_with_another_owner_that_exists_stays() -> None:
    run = _run()
    owners = [run.api.get("Job", name) for name in (JOB, "default/other")]
    run.create(_object("Pod", "train-0", *owners))
    run.api.delete("Job", JOB)
    run.settle()
    assert run.names("Pod") == ["train-0"]
    run.api.delete("Job", "default/other")
    run.settle()
    assert run.names("Pod") == []


def test_what_is_created_after_its_owner_is_gone_is_deleted() -> None:
    run = _run()
    owner = run.api.get("Job", JOB)
    run.api.delete("Job", JOB)
    run.settle()
    run.create(_object("Pod", "train-0", owner))
    assert run.names("Pod") == []


def test_an_owner_of_the_same_name_with_another_uid_is_another_one() -> None:
    run = _run()
    owner = run.api.get("Job", JOB)
    run.create(_object("Pod", "train-0", owner))
    run.api.delete("Job", JOB)
    run.create(_object("Job", "train"))
    assert run.names("Pod") == []


def test_a_later_object_of_the_same_name_is_not_deleted_for_an_earlier_one() -> None:
    run = _run()
    (collector,) = run.components
    run.create(_object("Pod", "train-0", run.api.get("Job", JOB)))
    run.api.delete("Job", JOB)
    run.deliver()
    run.api.delete("Pod", POD, grace=0)
    run.api.create(_object("Pod", "train-0", run.api.get("Job", "default/other")))
    assert collector.steps() == ("collect",)
    run.settle()
    assert run.names("Pod") == ["train-0"]


def test_a_collector_that_is_restored_goes_on() -> None:
    run = _run()
    (collector,) = run.components
    run.create(_object("Pod", "train-0", run.api.get("Job", JOB)))
    run.api.delete("Job", JOB)
    run.deliver()
    again = OwnerGarbageCollector(("Job", "Pod"))
    again.restore(collector.kept())
    assert again.kept() == collector.kept()
    again.step("collect", run.client)
    assert run.names("Pod") == []
    assert (again.steps(), again.due()) == ((), None)


def test_an_owner_that_is_never_seen_is_looked_up_until_it_is_gone() -> None:
    run = _run()
    (collector,) = run.components
    run.api.create(_object("Job", "unseen"))
    owner = run.api.get("Job", "default/unseen")
    run.api.take_changes()
    run.create(_object("Pod", "train-0", owner))
    run.api.delete("Job", "default/unseen")
    run.api.take_changes()
    assert run.names("Pod") == ["train-0"]
    run.wait(collector.due() or 0)
    assert run.names("Pod") == []
    assert collector.due() is None


def test_an_owner_that_is_seen_late_is_not_looked_up_any_more() -> None:
    run = _run()
    (collector,) = run.components
    run.api.create(_object("Job", "late"))
    (late,) = run.api.take_changes()
    run.create(_object("Pod", "train-0", run.api.get("Job", "default/late")))
    collector.deliver(*late, run.client)
    run.wait(collector.due() or 0)
    assert run.names("Pod") == ["train-0"]
    assert (collector.steps(), collector.due()) == ((), None)
