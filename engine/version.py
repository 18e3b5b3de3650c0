"""The version of Plinian; the package's metadata is made from it."""

VERSION = __version__ = "0.1.0"
