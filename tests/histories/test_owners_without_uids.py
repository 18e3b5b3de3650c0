"""Objects whose owner had no uid in its input: kind and name say which object owns them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from answer_worlds import API, CAPACITY, Document, owned
from click.testing import CliRunner

from plinian.engine.events import GENERATED, OwnerName, Reference, is_owner
from plinian.replay.cli.main import app
from plinian.replay.histories.related_objects import belonging
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.what_if.changed_sessions import Variant, what_if
from plinian.replay.what_if.cluster_changes import Delete, named_in
from sessions import document, group, node, pod, queue

BATCH = "batch.volcano.sh/v1alpha1"
JOB_PLACE = ("batch.volcano.sh", "Job", "ns", "work")
JOB = Reference(*JOB_PLACE, f"{GENERATED}1")


@pytest.mark.parametrize(
    ("owner", "named", "owns"),
    [
        (JOB, OwnerName(BATCH, "Job", "work", "u-1"), True),
        (JOB, OwnerName(BATCH, "Job", "work", ""), True),
        (JOB, OwnerName(BATCH, "Job", "other", "u-1"), False),
        (JOB, OwnerName("batch/v1", "Job", "work", "u-1"), False),
        (Reference(*JOB_PLACE, "u-2"), OwnerName(BATCH, "Job", "work", "u-1"), False),
        (Reference(*JOB_PLACE, "u-1"), OwnerName(BATCH, "Job", "work", "u-1"), True),
        (Reference(*JOB_PLACE, ""), OwnerName(BATCH, "Job", "work", ""), False),
    ],
)
def test_an_owner_is_known_by_its_uid_or_if_that_was_generated_by_name(
    owner: Reference, named: OwnerName, *, owns: bool
) -> None:
    assert is_owner(owner, named) is owns


def small(*, owners: bool, uid: str) -> list[Document]:
    """Return a full queue, and a job that holds it; its pods or the PodGroup's owner tell that."""
    job = document("Job", "work", "ns", spec={"minAvailable": 1})
    first, holds = group("work-u1", 1, "Running"), pod("work-0", "work-u1", 2, "n1")
    if owners:
        first = owned(first, "work")
        holds = owned(holds, "work")
    else:
        holds["metadata"]["annotations"]["volcano.sh/job-name"] = "work"
    waits = (group("second", 1, "Inqueue"), pod("second-0", "second", 2))
    found = [
        job,
        queue("root"),
        queue("default", parent="root"),
        node("n1", 2),
        first,
        holds,
        *waits,
    ]
    for one in found:
        one["apiVersion"] = API.get(one["kind"], "v1")
        for name in ("uid", "resourceVersion"):
            one["metadata"].pop(name, None)
    job["metadata"]["uid"] = uid
    return found


@contextmanager
def log_of(folder: Path, *, owners: bool, uid: str = "") -> Iterator[Log]:
    """Make a log of a list of objects without uids."""
    whole = {"apiVersion": "v1", "kind": "List", "items": small(owners=owners, uid=uid)}
    (folder / "cluster.json").write_bytes(msgspec.json.encode(whole))
    (folder / "volcano-scheduler.conf").write_text(CAPACITY)
    with opened(folder / "log.db", create=True) as log:
        ingest(log.store, [str(folder / "cluster.json"), str(folder / "volcano-scheduler.conf")])
        yield log


@pytest.mark.parametrize("owners", [True, False])
def test_a_job_that_is_gone_takes_its_podgroup_and_its_pods_along(
    tmp_path: Path, *, owners: bool
) -> None:
    with log_of(tmp_path, owners=owners) as log:
        change = Delete(named_in("job/work", "ns"))
        found = what_if(log, "end", [Variant("changed", (change,))], release="v1.12.1")
        rows = {(row.kind, row.about): row.values for row in found.decisions}
        assert rows["bind", "ns/second-0"] == (None, "n1")
        assert rows["phase", "ns/work-u1"] == ("Running", None)


def test_history_shows_what_belongs_to_it(tmp_path: Path) -> None:
    with log_of(tmp_path, owners=True) as log:
        moment = log.moment()
        (job,) = log.entries("jobs")
        found = belonging(log.store, job.reference, [job.reference.uid], moment)
        assert [one.name for one in found] == ["work-0", "work-u1"]


def test_check_of_a_list_without_revisions_reads_the_jobs(tmp_path: Path) -> None:
    with log_of(tmp_path, owners=True, uid="u-2"):
        pass
    found = CliRunner().invoke(app, ("check", "--log", str(tmp_path / "log.db")))
    assert found.exit_code == 0, found.output
