"""Everything that reads a log and shows the answers; built on :mod:`plinian.engine`."""
