"""Everything that asks questions of a log and shows the answers; built on :mod:`plinian.engine`."""
