"""Invariants of PodGroups: each fires where it should, and not where nothing is wrong."""

from __future__ import annotations

import pytest
from invariant_views import Story, deleting, owned, with_uid

from plinian.engine.invariants.podgroup_invariants import VOLCANO
from plinian.engine.kubernetes.objects import PodGroup, decode
from plinian.engine.session.framework.session_outcome import ClosedPodGroupStatus
from sessions import Document, document, group, node, pod, queue

BEGIN = (queue("default"), node("n1"))
CONTROLLERS = f"{VOLCANO}volcano-controllers"


def test_a_sound_cluster_violates_nothing() -> None:
    story = Story(*BEGIN, group("g", 2, "Running"), pod("a", "g", on="n1"), pod("b", "g", on="n1"))
    story.then("created", group("waiting", 1, "Pending"))
    story.then("created", pod("c", "waiting"))
    for name in ("I-01", "I-01b", "I-03", "I-04", "I-05c", "I-06", "I-11", "I-11b", "I-12", "I-21"):
        assert story.violated(name) == [], name


def test_the_cache_lacks_a_podgroup() -> None:
    story = Story(*BEGIN, group("g"))
    del story.view.cache.jobs["ns/g"]
    (found,) = story.violations("I-01")
    assert (found.name, "lacks" in found.message) == ("ns/g", True)


def test_the_cache_has_a_podgroup_under_an_old_uid() -> None:
    story = Story(*BEGIN, group("g"))
    job = story.view.cache.jobs["ns/g"]
    assert job.pod_group is not None
    story.view.truth.put("PodGroup", _decoded(with_uid(group("g"), "uid-new")))
    (found,) = story.violations("I-01")
    assert "uid-g" in found.message
    assert "uid-new" in found.message


def test_the_cache_keeps_a_podgroup_that_is_gone() -> None:
    story = Story(*BEGIN, group("g"))
    story.view.truth.remove("PodGroup", "ns/g")
    assert story.violated("I-01") == ["ns/g"]


def test_a_job_without_a_podgroup_whose_pods_still_end_is_not_a_violation() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", on="n1"))
    story.then("deleted", group("g"))
    assert story.violated("I-01") == []


def test_a_pod_that_the_cache_lost() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g"))
    del story.view.cache.jobs["ns/g"].tasks["uid-a"]
    assert story.violated("I-01b") == ["ns/a"]


def test_a_pod_that_names_no_podgroup_is_seen_by_no_session() -> None:
    lost = pod("a", "g")
    del lost["metadata"]["annotations"]
    assert Story(*BEGIN, lost).violated("I-01b") == ["ns/a"]


def test_a_pod_of_another_scheduler_need_not_be_known() -> None:
    other = pod("a", "g")
    other["spec"]["schedulerName"] = "default-scheduler"
    story = Story(*BEGIN, other)
    assert story.violated("I-01b") == []
    assert story.violated("I-04") == []


def test_a_pod_names_a_podgroup_that_does_not_exist() -> None:
    (found,) = Story(*BEGIN, pod("a", "g")).violations("I-04")
    assert found.name == "ns/a"
    assert "stays Pending" in found.message


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pods_that_have_ended_or_are_being_deleted_need_no_podgroup(phase: str) -> None:
    ended = pod("a", "g", status={"phase": phase})
    assert Story(*BEGIN, ended, deleting(pod("b", "g"))).violated("I-04") == []


def test_a_deleted_podgroup_is_checked_for_its_pods() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g"))
    assert ("Pod", "ns/a") in story.then("deleted", group("g"))


def test_a_podgroup_of_an_old_owner_is_used_by_the_pods_of_the_new_one() -> None:
    old = owned(group("g"), "Job", "train", "uid-old")
    story = Story(*BEGIN, old, owned(pod("a", "g"), "Job", "train", "uid-new"))
    assert story.violated("I-11") == ["ns/a"]
    same = Story(*BEGIN, old, owned(pod("a", "g"), "Job", "train", "uid-old"))
    assert same.violated("I-11") == []


def test_a_podgroup_whose_replicaset_was_replaced() -> None:
    made = owned(group("g"), "ReplicaSet", "web", "uid-old")
    story = Story(*BEGIN, document("ReplicaSet", "web", "ns", spec={}), made)
    assert story.violated("I-11") == ["ns/g"]
    right = owned(group("g"), "ReplicaSet", "web", "uid-web")
    sound = Story(*BEGIN, document("ReplicaSet", "web", "ns", spec={}), right)
    assert sound.violated("I-11") == []


def test_pods_that_a_driver_owns_may_share_its_podgroup() -> None:
    made = owned(group("g"), "SparkApplication", "pi", "uid-pi")
    assert (
        Story(*BEGIN, made, owned(pod("a", "g"), "Pod", "driver", "uid-driver")).violated("I-11")
        == []
    )


def test_a_queue_that_does_not_exist() -> None:
    story = Story(*BEGIN, group("g", queue="gone"), group("done", phase="Completed", queue="gone"))
    assert story.violated("I-11b") == ["ns/g"]


def test_a_podgroup_is_running_without_enough_pods() -> None:
    story = Story(*BEGIN, group("g", 2, "Running"), pod("a", "g", on="n1"), pod("b", "g"))
    (found,) = story.violations("I-12")
    assert "1 of minMember 2" in found.message


def test_a_podgroup_is_pending_although_its_pods_have_nodes() -> None:
    assert Story(*BEGIN, group("g", 1, "Pending"), pod("a", "g", on="n1")).violated("I-12") == [
        "ns/g"
    ]


def test_pods_that_are_being_deleted_may_count_or_not() -> None:
    going = deleting(pod("a", "g", on="n1"))
    for phase in ("Running", "Pending"):
        assert Story(*BEGIN, group("g", 1, phase), going).violated("I-12") == []


def test_a_component_of_volcano_deletes_a_podgroup_that_a_pod_names() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g"), actors={5: CONTROLLERS})
    story.then("deleted", group("g"))
    (found,) = story.violations("I-13")
    assert "volcano-controllers deleted it at @5" in found.message
    story.then("created", with_uid(group("g"), "uid-again"))
    assert story.violated("I-13") == []


def test_a_user_may_delete_a_podgroup_and_so_may_a_controller_with_its_pods() -> None:
    by_user = Story(*BEGIN, group("g"), pod("a", "g"), actors={5: "admin"})
    by_user.then("deleted", group("g"))
    assert by_user.violated("I-13") == []
    together = Story(*BEGIN, group("g"), deleting(pod("a", "g")), actors={5: CONTROLLERS})
    together.then("deleted", group("g"))
    assert together.violated("I-13") == []


def test_a_part_of_a_gang_has_nodes_that_was_never_complete() -> None:
    story = Story(*BEGIN, group("g", 3), pod("a", "g", on="n1"), pod("b", "g"), pod("c", "g"))
    (found,) = story.violations("I-21")
    assert "1 of minMember 3" in found.message


def test_a_gang_that_was_complete_may_lose_pods() -> None:
    story = Story(*BEGIN, group("g", 2), pod("a", "g", on="n1"), pod("b", "g", on="n1"))
    story.then("deleted", pod("b", "g", on="n1"))
    assert story.violated("I-21") == []


def test_the_condition_scheduled_shows_that_a_gang_was_complete_before_the_log_begins() -> None:
    status = {"conditions": [{"type": "Scheduled", "status": "True"}]}
    story = Story(*BEGIN, group("g", 3, status=status), pod("a", "g", on="n1"), pod("b", "g"))
    assert story.violated("I-21") == []


def _decoded(each: Document) -> PodGroup:
    return decode(PodGroup, each)


def ended(each: Document, phase: str = "Succeeded") -> Document:
    """Return a pod that has ended."""
    return {**each, "status": {"phase": phase}}


def test_a_completed_podgroup_has_no_pod_that_waits() -> None:
    done = ended(pod("a", "g", on="n1"))
    story = Story(*BEGIN, group("g", 1, "Completed"), done)
    assert story.violated("I-12d") == []
    story.then("created", pod("b", "g"))
    (found,) = story.violations("I-12d")
    assert (found.name, "ns/b" in found.message) == ("ns/g", True)
    story.then("updated", deleting(pod("b", "g")))
    assert story.violated("I-12d") == []


def test_no_session_completes_a_podgroup_of_which_a_pod_waits() -> None:
    story = Story(*BEGIN, group("g", 1, "Running"), ended(pod("a", "g", on="n1")), pod("b", "g"))
    decided = ClosedPodGroupStatus("uid-g", "Completed", (), 0, 1, 0, written=True)
    story.session(pod_groups={"ns/g": decided})
    assert story.violated("I-12e") == ["ns/g"]
    story.session(pod_groups={"ns/g": decided}, binds=[("ns/b", "n1")])
    assert story.violated("I-12e") == []
    story.session(pod_groups={"ns/g": decided._replace(phase="Running")})
    assert story.violated("I-12e") == []
