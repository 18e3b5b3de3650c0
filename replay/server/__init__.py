"""The past, served: one process that answers over HTTP, for browsers, programs and ``kubectl``."""
