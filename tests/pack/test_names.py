"""New names sort, match and refer as the old ones do."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plinian.replay.pack.pack_names import KNOWN_NAMES, Renaming, back, between, new_words

SALT = b"salt"
WORDS = st.text("abkrz0159", min_size=1, max_size=4)
NAMES = st.lists(WORDS, min_size=1, max_size=3).flatmap(
    lambda words: st.sampled_from("-./").map(lambda joint: joint.join(words))
)


def renamed(names: list[str]) -> dict[str, str]:
    """Return the new name of each name."""
    renaming = Renaming()
    for name in names:
        renaming.name(name)
    renaming.settle(SALT)
    return {name: renaming.name(name) for name in names}


@given(
    st.lists(WORDS.filter(lambda word: not word.isdigit())),
    st.lists(st.from_regex(r"[0-9]{1,3}", fullmatch=True)),
)
def test_new_words_sort_as_the_old_ones_do_also_among_kept_numbers(
    words: list[str], numbers: list[str]
) -> None:
    new = new_words({*words} - {*numbers}, numbers, SALT)
    every = {**new, **{number: number for number in numbers}}
    ordered = [every[word] for word in sorted(every)]
    assert all(one < other for one, other in pairwise(ordered))


@given(st.lists(st.text("abkrz", min_size=1, max_size=4), min_size=2, max_size=8))
def test_names_joined_of_renamed_parts_sort_as_before(parts: list[str]) -> None:
    names = [f"{one}{joint}{other}" for one, other in pairwise(parts) for joint in "-./"]
    names += parts
    new = renamed([name for name in names if name not in KNOWN_NAMES])
    ordered = sorted(new)
    assert [new[name] for name in ordered] == sorted(new.values())


@given(WORDS, st.one_of(st.none(), WORDS))
def test_what_is_between_two_words_stays_between_them_with_more_text(
    low: str, high: str | None
) -> None:
    if high is not None and not low < high:
        return
    if high is not None and high.strip("0") == "" and high.startswith(low):
        return  # Nothing that ends in a letter sorts between a word and the same with zeros.
    found = between(low, high)
    for more in ("", "0", "zz"):
        assert low < found + more
        assert high is None or found + more < high


def test_a_pod_begins_as_its_job_and_keeps_its_index() -> None:
    new = renamed(["train-a", "train-a-worker-3", "train-a-worker-12"])
    job, third, twelfth = new.values()
    assert third.startswith(f"{job}-")
    assert third.rpartition("-")[2] == "3"
    assert twelfth.rpartition("-")[2] == "12"
    assert "train" not in job


def test_addresses_and_names_of_digits_alone_do_not_stay() -> None:
    new = renamed(["10.20.30.40", "ip-10-20-30-40", "1234", "job-7"])
    assert new["job-7"].endswith("-7")
    for name in ("10.20.30.40", "ip-10-20-30-40", "1234"):
        assert not {*name.replace(".", "-").split("-")} & {*new[name].replace(".", "-").split("-")}


def test_a_number_of_an_address_that_is_an_index_elsewhere_gets_a_name() -> None:
    new = renamed(["10.1.1.1", "pod-1", "pod-10", "pod-100"])
    assert new["10.1.1.1"].split(".")[1] not in {"1", "10", "100"}


def test_another_salt_gives_other_names_and_the_map_leads_back() -> None:
    words = {"alpha", "beta", "gamma"}
    new, other = new_words(words, (), SALT), new_words(words, (), b"other")
    assert new.keys() == other.keys()
    assert not {*new.values()} & {*other.values()}
    assert back(new)(f"{new['alpha']}-7/{new['beta']}") == "alpha-7/beta"


def test_names_that_every_cluster_has_stay() -> None:
    assert renamed(["root", "kube-system"]) == {"root": "root", "kube-system": "kube-system"}
