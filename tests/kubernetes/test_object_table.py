"""Documents get numbers by what is in them."""

from __future__ import annotations

from plinian.engine.kubernetes.object_table import ObjectTable


def test_equal_documents_have_one_number_however_their_fields_are_ordered() -> None:
    table = ObjectTable()
    one = {"kind": "Pod", "metadata": {"name": "a", "uid": "1"}}
    other = {"metadata": {"uid": "1", "name": "a"}, "kind": "Pod"}
    assert table.number(one) == table.number(other) == table.number(one) == 0
    assert table.number({**one, "kind": "Node"}) == 1
    assert table.document(0) is one
