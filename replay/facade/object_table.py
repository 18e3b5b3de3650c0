"""Objects of a log as a table: the columns of ``plinian get``, and each object as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.state.truth_fold import Entry, Truth
from ..coverage.coverage import NotListed
from ..logs.given_names import PODGROUP
from ..logs.log import Log
from ..moments.moment import Moment
from ..tabular.column_table import ColumnTable, texts
from ..tabular.tabular import Records
from .tables import ObjectRow, object_row

if TYPE_CHECKING:
    from ..render.tables import Table

_POD: GroupKind = ("", "Pod")
_NOTHING = "<none>"


class ObjectRecords(Records[dict[str, Any]]):
    """Whole objects, as a list that is a table.

    The table has the columns of ``plinian get -o wide``, with names in small letters; then those
    that all kinds have, and the object as JSON.

    :param shown: makes the table of ``plinian get``.
    """

    def __init__(self, documents: Iterable[dict[str, Any]], shown: Callable[[], Table]) -> None:
        super().__init__(documents, "objects", ObjectRow, object_row)
        self._shown = shown

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the one table."""
        (of_all,) = super().tables().values()
        table = self._shown()
        heads = [head.lower() for head in table.headers]
        rows = ([None if cell == _NOTHING else cell for cell in row] for row in table.rows)
        own = texts(heads, rows)
        more = [place for place, column in enumerate(of_all.columns) if column.name not in heads]
        columns = (*own.columns, *(of_all.columns[place] for place in more))
        cells = (*own.cells, *(of_all.cells[place] for place in more))
        return {"objects": ColumnTable(columns, cells, len(self))}


def shown_of(
    log: Log, moment: Moment, kind: GroupKind, entries: Sequence[Entry]
) -> Callable[[], Table]:
    """Return what makes the table of some objects of a kind; the log may be closed by then."""
    truth: Truth = log.truth(moment)
    listed = NotListed(log, moment)
    places = {entry.reference.namespace for entry in entries}
    not_listed = {
        (pair, place)
        for pair in (_POD, PODGROUP)
        for place in (None, *places)
        if listed(pair, place)
    }

    def shown() -> Table:
        from ..render.columns import TableContext, table_of  # noqa: PLC0415 -- only tables need it

        context = TableContext(truth, not_listed=lambda pair, place: (pair, place) in not_listed)
        namespaces = kind not in CLUSTER_SCOPED
        return table_of(context, *kind, entries, wide=True, namespaces=namespaces)

    return shown
