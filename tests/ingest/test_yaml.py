"""YAML as Kubernetes reads it, held against outcomes recorded from Go's sigs.k8s.io/yaml 1.4.0."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import yaml

from clusters import DATA, pod, recorded
from plinian.engine.errors import EventMalformed, InputTruncated
from plinian.engine.events import Event
from plinian.engine.ingest.format_registry import recognise
from plinian.engine.ingest.lists.yaml_objects import FORMAT
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.kubernetes.yaml import YamlFault, YamlReader

# Each line: [YAML text, the JSON that YAMLToJSON made of it, or "refused"]; made by a Go program
# of ten lines from a list of words that YAML libraries are known to disagree about.
OUTCOMES = [
    tuple(json.loads(line)) for line in (DATA / "yaml-outcomes.jsonl").read_text().splitlines()
]


def load(text: str) -> Any:
    reader = YamlReader(io.BytesIO(text.encode()))
    while not isinstance(reader.next(), yaml.DocumentStartEvent):
        pass
    return reader.value(reader.next())


def read(data: bytes, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source="list.yaml", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def as_yaml(*documents: dict[str, Any]) -> bytes:
    return yaml.safe_dump_all(documents).encode()


@pytest.mark.parametrize(("text", "outcome"), OUTCOMES)
def test_a_text_means_what_it_means_to_kubernetes(text: str, outcome: str) -> None:
    if outcome == "refused":
        with pytest.raises(YamlFault):
            load(text)
        return
    assert kinds_of(load(text)) == kinds_of(json.loads(outcome))


@pytest.mark.parametrize(
    ("text", "outcome"), [("!!int 0", 0), ("!!int 1", 1), ("!!float 1", 1), ("!!bool true", True)]
)
def test_a_tag_of_a_scalar_is_that_of_its_value(text: str, outcome: Any) -> None:
    assert repr(load(text)) == repr(outcome)


@pytest.mark.parametrize(
    "text", ["!!int true", "!!int 1.0", "!!float true", "!!bool 1", "!!null 0"]
)
def test_a_scalar_that_does_not_match_its_tag_is_refused(text: str) -> None:
    with pytest.raises(YamlFault, match="is no"):
        load(text)


def kinds_of(value: Any) -> Any:
    """Return a JSON value so that true differs from 1, and 1.0 does not: JSON knows one number."""
    if isinstance(value, dict):
        return {key: kinds_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [kinds_of(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return repr(value)


def test_the_table_has_the_words_that_libraries_disagree_about() -> None:
    words = {text for text, _ in OUTCOMES}
    assert {"k: 012\n", "k: yes\n", "k: 12:30:45\n", "k: 1e3\n", "k: 1_000\n", "k: 0o12\n"} <= words
    assert len(OUTCOMES) > 100


@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_an_integer_of_many_digits_is_the_nearest_float_or_a_text(sign: str) -> None:
    """As in version 1.4.0 of that library: from 1e309 on Go has no float."""
    assert load(f"k: {sign}{'9' * 100}\n") == {"k": float(f"{sign}1e100")}
    assert load(f"k: {sign}{'9' * 64}\n") == {"k": float(f"{sign}{'9' * 64}")}
    assert load(f"k: {sign}{'9' * 400}\n") == {"k": sign + "9" * 400}


def test_a_key_that_occurs_twice_is_refused_where_go_takes_the_last() -> None:
    with pytest.raises(YamlFault, match="'a' occurs twice") as fault:
        load("b: 1\na: 1\na: 2\n")
    assert fault.value.line == 3


def test_a_recorded_list_says_in_yaml_what_it_says_in_json() -> None:
    events, _ = read(recorded("list-all.managed.yaml.gz"))
    as_json = json.loads(recorded("list-all.json.gz"))["items"]
    documents = {
        (event.reference.uid, event.resource_version): json.loads(event.payload)
        for event in events
        if event.kind != "list.observed"
    }
    same = [
        documents[key] == item
        for item in as_json
        if (key := (item["metadata"]["uid"], item["metadata"]["resourceVersion"])) in documents
    ]
    assert len(same) > 10
    assert all(same)
    assert sum(event.kind == "list.observed" for event in events) == 7
    assert any(event.observed_at for event in events), "--show-managed-fields gives times"


def test_each_item_has_the_line_on_which_it_begins() -> None:
    text = recorded("list-all.managed.yaml.gz")
    events, _ = read(text)
    lines = text.decode().splitlines()
    assert {lines[event.line - 1][:14] for event in events[:-7]} == {"- apiVersion: "}


def test_several_documents_are_read() -> None:
    events, _ = read(b"# two pods\n" + as_yaml(pod("a", 1), pod("b", 2)) + b"---\n")
    assert [event.reference.name for event in events] == ["a", "b"]


@pytest.mark.parametrize("form", ["{}\n", "---\n{}\n", "- {}\n", "[{}]\n", "items:\n- {}\n"])
def test_objects_in_flow_style_are_read_as_those_in_blocks(form: str) -> None:
    flow = yaml.safe_dump(pod("a", 5), default_flow_style=True, width=100_000).strip()
    text = form.format(flow)
    if form.startswith("items"):
        text = f"apiVersion: v1\n{text}kind: List\n"
    assert recognise(text.encode(), "x.yaml") is FORMAT
    events, _ = read(text.encode())
    (block, *_), _ = read(as_yaml(pod("a", 5)))
    assert (events[0].payload, events[0].revision) == (block.payload, 5)


def test_items_without_a_kind_wait_for_that_of_their_list() -> None:
    bare = pod("a", 5)
    del bare["kind"], bare["apiVersion"]
    text = as_yaml(
        {
            "apiVersion": "v1",
            "items": [bare],
            "kind": "PodList",
            "metadata": {"resourceVersion": "9"},
        }
    )
    events, _ = read(text)
    assert [event.kind for event in events] == ["pod.observed", "list.observed"]
    assert events[1].revision == 9


def test_a_list_that_ends_without_its_kind_is_cut_off() -> None:
    text = recorded("list-all.managed.yaml.gz")
    with pytest.raises(InputTruncated, match="ends without its kind"):
        read(text[: text.rindex(b"kind: List")])


def test_a_list_whose_kind_comes_first_and_that_ends_within_an_object_is_cut_off() -> None:
    items = [{**pod(name, 5), "spec": {"nodeName": "n"}, "status": {}} for name in "abc"]
    head = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "9"}}
    text = yaml.safe_dump({**head, "items": items}, sort_keys=False).encode()
    cut = text[: text.rindex(b"  spec:")]
    with pytest.raises(InputTruncated, match="last object lacks spec, status"):
        read(cut)
    events, _ = read(cut, skip_malformed=True)
    assert [event.reference.name for event in events] == ["a", "b"]
    assert [event.kind for event in read(text)[0]][-1] == "list.observed"
    new = {key: value for key, value in items[2].items() if key != "status"}
    whole = {**head, "items": [*items[:2], new]}
    events, _ = read(yaml.safe_dump(whole, sort_keys=False).encode())
    assert events[-1].kind == "list.observed", "an object may have no status yet"
    bare = {key: value for key, value in pod("new", 6).items() if key not in {"spec", "status"}}
    between = {**head, "items": [items[0], bare, items[1]]}
    events, _ = read(yaml.safe_dump(between, sort_keys=False).encode())
    assert [event.reference.name for event in events[:-1]] == ["a", "new", "b"]


def test_a_list_cut_inside_a_line_is_refused() -> None:
    text = recorded("list-all.managed.yaml.gz")
    with pytest.raises((InputTruncated, EventMalformed)) as fault:
        read(text[: text.index(b"resourceVersion") + 6])
    assert fault.value.where.startswith("list.yaml:")
    events, context = read(text[: len(text) // 2], skip_malformed=True)
    assert context.skipped["malformed"] >= 1
    assert all(event.kind != "list.observed" for event in events)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"apiVersion: v1\nkind: Pod\nmetadata: 5\n", "$.metadata: expected an object"),
        (b"apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", "not YAML"),
        (b"apiVersion: v1\nkind: P\x00d\n", "not YAML"),
        (b"apiVersion: v1\nkind: P\xe9\n", "not YAML"),
        (b"apiVersion: v1\nkind: Pod\nspec: " + b"[" * 2000, "nested too deep"),
        (b"apiVersion: v1\nkind: Pod\nitems: []\n", "has items, but is not a list"),
        (b"apiVersion: v1\nkind: Pod\nspec: *nobody\n", "not known"),
        (b"just a word\n", "expected an object"),
    ],
)
def test_yaml_with_a_fault_is_refused_with_its_line(text: bytes, what: str) -> None:
    with pytest.raises(EventMalformed) as fault:
        read(text)
    assert what in fault.value.what
    assert fault.value.where.startswith("list.yaml:")


def test_aliases_that_multiply_are_refused() -> None:
    laughs = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    laughs += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(YamlFault, match="unfolds to more than"):
        load("\n".join(laughs) + "\n")


@pytest.mark.parametrize(
    ("head", "is_it"),
    [
        (b"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n", True),
        (b"---\n# note\napiVersion: v1\nkind: Pod\nmetadata:\n  resourceVersion: '5'\n", True),
        (b"items:\n- apiVersion: v1\n  kind: Pod\n", True),
        (b"{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '5'}}\n", True),
        (b"--- {apiVersion: v1, kind: Pod, metadata: {resourceVersion: '5'}}\n", True),
        (b"---\n{\n  apiVersion: v1,\n  kind: Pod,\n  metadata: {resourceVersion: '5'}}\n", True),
        (b"- {apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '5'}}\n", True),
        (b"[{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '5'}}]\n", True),
        (b"apiVersion: v1\nkind: Pod\nmetadata: {name: a, resourceVersion: '5'}\n", True),
        (b"{apiVersion: v1, kind: PodList, items: []}\n", True),
        (b"{apiVersion: apps/v1, kind: Deployment, metadata: {name: manifest}}\n", False),
        (b"{apiVersion: audit.k8s.io/v1, kind: Event, items: []}\n", False),
        (b"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: manifest\n", False),
        (b"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n", False),
        (b"name: something\nversion: 3\n", False),
        (b'{"apiVersion":"v1"}', False),
    ],
)
def test_stored_objects_are_told_from_other_yaml(head: bytes, *, is_it: bool) -> None:
    assert FORMAT.sniff(head, "x.yaml") is is_it


@pytest.mark.parametrize("blank", [b"\n", b" \n", b"# --\n", b"---\n", b"%\n", b"\t#\n"])
def test_a_long_beginning_without_an_object_is_looked_at_once(blank: bytes) -> None:
    head = (blank * 2**16)[: 2**16 - 20] + b"echo hello, world\n"
    assert recognise(head, "script.sh") is None
    text = blank * 30 + b"apiVersion: v1\nkind: PodList\nitems: []\n"
    assert recognise(text, "list.yaml") is FORMAT
