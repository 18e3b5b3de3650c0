"""Writes the messages of Kubernetes' own kinds, by which ``plinian serve`` reads protobuf.

    python tools/protobuf_messages.py MODULES/k8s.io/api@v0.35.3 \
        MODULES/k8s.io/apimachinery@v0.35.3 replay/server/kubernetes/write/messages.json.zst

MODULES is a cache of Go modules (``go env GOMODCACHE``). Both modules are part of Kubernetes
(Apache License 2.0). Of each struct with protobuf tags, the numbers, names and types of its fields
are taken from its Go source: generated.proto does not say which zero values JSON leaves out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import zstandard

IMPORT = re.compile(r'^\s+(\w+)\s+"(k8s\.io/[\w./-]+)"$|^\s+"(k8s\.io/[\w./-]+)"$', re.MULTILINE)
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ALIAS = re.compile(r"^\s*(?:type )?(\w+) =? ?((?:\[\]|map\[\w+\])?[\w.]+)(?: //.*)?$", re.MULTILINE)
FIELD = re.compile(r"^\s+(?:(\w+)\s+)?([\w.*\[\]]+)\s+`([^`]*)`", re.MULTILINE)
TAG = re.compile(r'(json|protobuf):"([^"]*)"')
SCALARS = {
    **dict.fromkeys(("int", "int32", "int64", "uint32", "uint64", "uint8"), "int"),
    "string": "string",
    "bool": "bool",
    "byte": "byte",
    "float64": "double",
}
SPECIAL = {
    "apimachinery/pkg/apis/meta/v1.Time": "time",
    "apimachinery/pkg/apis/meta/v1.MicroTime": "microtime",
    "apimachinery/pkg/apis/meta/v1.Duration": "duration",
    "apimachinery/pkg/api/resource.Quantity": "quantity",
    "apimachinery/pkg/util/intstr.IntOrString": "intorstring",
    "apimachinery/pkg/runtime.RawExtension": "raw",
    "apimachinery/pkg/types.UID": "string",
    "apimachinery/pkg/types.NodeName": "string",
}
SKIPPED = frozenset({"managedFields"})


class Sources:
    """The Go source of some packages.

    :ivar structs: by package and name, their text. :ivar aliases: named scalars and lists.
    """

    def __init__(self, api: Path, machinery: Path) -> None:
        self.structs: dict[str, tuple[str, str]] = {}
        self.aliases: dict[str, str] = {}
        self.imports: dict[str, dict[str, str]] = {}
        for root, name in ((api, "api"), (machinery, "apimachinery")):
            for path in sorted(root.rglob("*.go")):
                if not path.name.startswith(("zz_", "generated")) and "test" not in str(path):
                    self._read(path, f"{name}/{path.parent.relative_to(root)}")

    def _read(self, path: Path, package: str) -> None:
        text = path.read_text()
        names = self.imports.setdefault(package, {})
        for named, full, plain in IMPORT.findall(text):
            where = (full or plain).removeprefix("k8s.io/")
            names[named or where.rpartition("/")[2]] = where
        for name, body in STRUCT.findall(text):
            self.structs[f"{package}.{name}"] = package, body
        for name, of in ALIAS.findall(text):
            self.aliases.setdefault(f"{package}.{name}", of)

    def type_of(self, package: str, text: str) -> str:
        """Return a scalar, a special type, or the full name of a message."""
        if text in SCALARS:
            return SCALARS[text]
        before, _, name = text.rpartition(".")
        package = self.imports[package].get(before, before) if before else package
        full = f"{package}.{name}"
        if full in SPECIAL:
            return SPECIAL[full]
        alias = self.aliases.get(full)
        if alias is None or full in self.structs:
            return full
        return "strings" if alias == "[]string" else self.type_of(package, alias)

    def mapped(self, package: str, text: str) -> tuple[str, str]:
        """Return what a type that names a map stands for, with the package to read it in."""
        before, _, name = text.rpartition(".")
        package_of = self.imports[package].get(before, before) if before else package
        alias = self.aliases.get(f"{package_of}.{name}", "")
        return (package_of, alias) if alias.startswith("map[") else (package, text)


def fields_of(sources: Sources, package: str, body: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each field, with its name, its shape, its type and its use."""
    for _, go, tags in FIELD.findall(body):
        tag = dict(TAG.findall(tags))
        if "protobuf" not in tag or "json" not in tag:
            continue
        number = int(tag["protobuf"].split(",")[1])
        name, *flags = tag["json"].split(",")
        if name in SKIPPED:
            continue
        shape = "one"
        within, kind = sources.mapped(package, go.lstrip("*"))
        if kind.startswith("map["):
            shape, kind = "map", kind.partition("]")[2]
        elif kind == "[]byte":
            kind = "bytes"
        elif kind.startswith("[]"):
            shape, kind = "list", kind[2:].lstrip("*")
        kind = "bytes" if kind == "[]byte" else kind
        found = "bytes" if kind == "bytes" else sources.type_of(within, kind)
        inline = "inline" in flags or not name
        plain = "omitempty" in flags and not go.startswith("*") and shape == "one"
        yield number, [name, shape, found, "inline" if inline else "plain" if plain else ""]


def messages_in(sources: Sources) -> dict[str, dict[int, list[str]]]:
    """Return the fields of all messages by name."""
    found = {}
    for name, (package, body) in sources.structs.items():
        fields = dict(fields_of(sources, package, body))
        if fields:
            found[name] = fields
    return found


def main() -> None:
    """Write the file."""
    api, machinery, out = map(Path, sys.argv[1:])
    found = messages_in(Sources(api, machinery))
    scalars = {*SCALARS.values(), *SPECIAL.values(), "bytes", "strings"}
    for name, fields in found.items():
        for field in fields.values():
            if field[2] not in scalars and field[2] not in found:
                print(f"{name}: no such type: {field}", file=sys.stderr)
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    out.write_bytes(zstandard.ZstdCompressor(level=22).compress(text.encode()))


if __name__ == "__main__":
    main()
