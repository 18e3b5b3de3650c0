"""Redacts names in the events of a slice: new names for old ones, and no free text."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import Event, Reference, canonical_json
from ...engine.ingest.objects.object_defaults import FILLED
from .api_words import EVENT_WORDS, is_amount, is_numbers, is_of_api
from .known_keys import (
    KEYS,
    KINDS_OF_GROUPS,
    PLURALS,
    is_known_group,
    is_known_resource,
    split_domain,
)
from .pack_conf import redacted_conf
from .pack_fields import KINDS, METADATA, REASONS, REQUEST, Fields, FieldTreatment
from .pack_names import Renaming

_CUSTOM = ("node-role.kubernetes.io/", "node-restriction.kubernetes.io/")
"""Prefixes of keys whose rest a cluster's owner chooses."""

_BY_CLASS = ".storageclass.storage.k8s.io"
_VERBS, _ATTACHED = ("requests.", "limits."), "attachable-volumes-csi-"
_ROLES = frozenset({"control-plane", "master", "worker", "agent", "etcd", "ingress"})
_LEFT_OUT = "kubectl.kubernetes.io/last-applied-configuration"
_WORDS = frozenset(
    {
        *("required", "preferred", "none", "restricted", "single", "numa", "best", "effort"),
        *("spread", "binpack", "success", "failed", "allocating", "hami", "core", "mig", "NVIDIA"),
        *("GPU", "Reported", "Requesting", "LeastAllocated", "MostAllocated", "cpu", "memory"),
        *("nvidia", "com", "gpu", "volcano", "sh", "vgpu", "number", "cores", "percentage"),
    }
)
_PLAIN = frozenset({"true", "false", "*", ""})
_WORD_OF_API = re.compile(r"[0-9A-Za-z.:+/_@-]{0,64}")
_SHORT_NUMBER = re.compile(r"-?[0-9]{1,5}")
_LINES = frozenset({"message.logged", "cache.dumped", "input.redacted"})
_TEXTS = frozenset({"message", "user_agent", "stack", "unknown", "at", "version"})
_FLAGS = frozenset(
    {
        *("scheduler-name", "default-queue", "node-selector", "ignored-provisioners"),
        "priority-class",
    }
)
"""Flags of the scheduler that shape its cache."""

_VALUES = frozenset({"true", "false", "volcano", "default"})

_DECODE = msgspec.json.Decoder().decode


class NameRedaction:
    """Redacts one event after the other with the same new names.

    Used twice: first to see all names, then, when :meth:`settle` has made the map, to replace them.
    """

    def __init__(self, salt: bytes) -> None:
        self.renaming = Renaming()
        self._salt = salt
        self._sources: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self.kept: set[str] = set()
        """Words that stay: values of fields, keys and resources that everybody knows."""
        self._ways: Mapping[FieldTreatment, Callable[[Any], Any]] = MappingProxyType(
            {
                FieldTreatment.AS_IS: self._of_api,
                FieldTreatment.NAME: self._text(self.renaming.name),
                FieldTreatment.VALUE: self._text(self.label_value),
                FieldTreatment.KEY: self._text(self.key),
                FieldTreatment.GROUP: self._text(self.group),
                FieldTreatment.REASON: lambda value: value if value in REASONS else None,
                FieldTreatment.LABELS: self._map(self.key, self._text(self.label_value)),
                FieldTreatment.ANNOTATIONS: self._annotations,
                FieldTreatment.AMOUNTS: self._map(self.resource, self._of_api),
                FieldTreatment.COUNTS: self._map(self.renaming.name, self._of_api),
                FieldTreatment.WHOLE: self._nested,
            }
        )

    def own(self, event: Event, shape: type[msgspec.Struct], **counts: int) -> Event:
        """Return an event about the slice itself, with other counts of events."""
        payload = self._other(event, _DECODE(event.payload))
        changed = msgspec.structs.replace(msgspec.convert(payload, shape), **counts)
        return msgspec.structs.replace(
            event, payload=canonical_json(changed), cluster=self.renaming.name(event.cluster)
        )

    def joined(self, text: str) -> str:
        """Return names joined by slashes with new names, as in ``namespace/pod``."""
        return "/".join(self._name(part) for part in text.split("/"))

    def kind_of(self, name: str) -> str:
        """Return the kind of an object that has or had a name, or ``label or reference``."""
        return self._kinds.get(name, "label, an image or another reference")

    def _of_api(self, value: Any) -> Any:
        """Return a number or a word of an object; a word that no API has is a name."""
        if isinstance(value, dict | list):
            return None
        if not isinstance(value, str) or not value:
            return value
        if is_of_api(value):
            self.kept.add(value)
            return value
        return self.renaming.name(value) if _WORD_OF_API.fullmatch(value) else None

    def _nested(self, value: Any) -> Any:
        """Return numbers, and words that an event or a topology has; all other texts are names."""
        if isinstance(value, dict):
            return {
                self._word_or_resource(name): self._nested(inner) for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self._nested(item) for item in value]
        if not isinstance(value, str) or not value:
            return value
        if is_of_api(value) or value in EVENT_WORDS or is_numbers(value):
            self.kept.add(value)
            return value
        return self.renaming.name(value) if _WORD_OF_API.fullmatch(value) else ""

    def _word_or_resource(self, name: str) -> str:
        if name in EVENT_WORDS or is_amount(name) or is_numbers(name):
            self.kept.add(name)
            return name
        return self.resource(name)

    def settle(self) -> Mapping[str, str]:
        """Make the map of old words to new ones, and return it."""
        return self.renaming.settle(self._salt)

    def redacted(self, event: Event) -> Event | None:
        """Return an event with new names and without free text; None if nothing of it is left."""
        if event.kind in _LINES:
            return None
        payload = _DECODE(event.payload)
        # An event without a shape of payload holds an object.
        if EVENT_KINDS[event.kind].payload is None:
            payload = self.document(payload, event.reference.kind)
        else:
            payload = self._other(event, payload)
        return msgspec.structs.replace(
            event,
            reference=self.reference(event.reference),
            payload=canonical_json(payload),
            actor=self.actor(event.actor),
            source=self._sources.setdefault(event.source, f"input {len(self._sources) + 1}"),
            cluster=self.renaming.name(event.cluster),
        )

    def reference(self, reference: Reference) -> Reference:
        """Return the reference to an object by its new name."""
        known = (reference.group, reference.kind) in KINDS_OF_GROUPS
        for name in (reference.name, reference.uid):
            # The first kind with the name is the one that a message says.
            self._kinds.setdefault(name, reference.kind)
        return Reference(
            group=self.group(reference.group),
            kind=reference.kind if known else self.renaming.name(reference.kind),
            namespace=self._name(reference.namespace),
            name=self._name(reference.name),
            uid=self._name(reference.uid),
        )

    def _name(self, text: str) -> str:
        return self.renaming.name(text) if text else ""

    def group(self, group: str) -> str:
        """Return an API group, or one with its version; those of other owners get new names."""
        if is_known_group(group):
            self.kept.add(group)
            return group
        name, slash, version = group.rpartition("/")
        own, known = split_domain(name if slash else group)
        if not known:
            return self.renaming.name(group)
        before = f"{self.renaming.name(own)}.{known}" if own else known
        return f"{before}/{self._name(version)}" if slash else before

    def actor(self, actor: str) -> str:
        """Return who wrote a version; the names of users and of accounts of services are new."""
        return ":".join(
            part if part in {"", "system", "serviceaccount", "node"} else self._name(part)
            for part in actor.split(":")
        )

    def document(self, document: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return an object, or the body of a request about one, with the fields that are kept."""
        known = KINDS.get(kind, {})
        own = {"apiVersion": FieldTreatment.GROUP, "kind": FieldTreatment.AS_IS}
        fields = {**own, **REQUEST, **known, "metadata": METADATA, "deleteOptions": REQUEST}
        return self._kept(document, fields)

    def _kept(self, document: dict[str, Any], fields: Fields) -> dict[str, Any]:
        kept_fields = {}
        for name, how in fields.items():
            if name in document:
                # What has no known form is left out altogether, not replaced.
                value = self._value(document[name], how)
                if value is not None:
                    kept_fields[name] = value
        # A kind is only known with its group: a custom kind may have the name of a known one.
        if "kind" in kept_fields and not is_known_group(str(document.get("apiVersion", ""))):
            kept_fields["kind"] = self._name(str(document["kind"]))
        return kept_fields

    def _value(self, value: Any, how: FieldTreatment | Fields) -> Any:
        if value is None:
            return None
        if isinstance(value, list) and how is not FieldTreatment.WHOLE:
            values = (self._value(item, how) for item in value)
            return [item for item in values if item is not None]
        if isinstance(how, FieldTreatment):
            return self._ways[how](value)
        return self._kept(value, how) if isinstance(value, dict) else None

    def key(self, key: str) -> str:
        """Return the key of a label or of an annotation; those that everybody knows stay."""
        if _is_known_key(key):
            self.kept.add(key)
            return key
        return self._below(key)

    def _below(self, key: str) -> str:
        """Return a key with a new name; a domain that everybody knows stays before it."""
        domain, slash, rest = key.rpartition("/")
        own, known = split_domain(domain)
        if not slash or not known:
            return self.renaming.name(key)
        self.kept.add(known)
        before = f"{self.renaming.name(own)}.{known}" if own else known
        return f"{before}/{self._name(rest)}"

    def label_value(self, value: str) -> str:
        """Return the value of a label; selectors compare numbers, so short ones stay."""
        # A new word would be no number, and Gt and Lt of a selector would not match it any more.
        return value if _SHORT_NUMBER.fullmatch(value) else self.renaming.name(value)

    def resource(self, name: str) -> str:
        """Return the name of a resource; those that not everybody knows get new names.

        Quotas count objects (``count/pods``), limit requests, and do so by class of storage.
        """
        if is_known_resource(name):
            self.kept.add(name)
            return name
        for verb in _VERBS:
            if name.startswith(verb):
                return f"{verb}{self.resource(name.removeprefix(verb))}"
        prefix, _, rest = name.rpartition("/")
        if prefix == "count":
            plural, _, group = rest.partition(".")
            return name if (plural, group) in PLURALS else f"count/{self.renaming.name(rest)}"
        if prefix.endswith(_BY_CLASS):
            by_class = self.renaming.name(prefix.removesuffix(_BY_CLASS))
            return f"{by_class}{_BY_CLASS}/{self.resource(rest)}"
        if name.startswith(_ATTACHED):
            return f"{_ATTACHED}{self._name(name.removeprefix(_ATTACHED))}"
        return self._below(name)

    @staticmethod
    def _text(rename: Callable[[str], str]) -> Callable[[Any], Any]:
        return lambda value: rename(value) if isinstance(value, str) and value else value

    @staticmethod
    def _map(
        rename: Callable[[str], str], of_value: Callable[[Any], Any]
    ) -> Callable[[Any], dict[str, Any] | None]:
        def kept(value: Any) -> dict[str, Any] | None:
            if not isinstance(value, dict):
                return None
            return {rename(key): of_value(inner) for key, inner in value.items()}

        return kept

    def _annotations(self, value: Any) -> dict[str, str] | None:
        if not isinstance(value, dict):
            return None
        annotations = {}
        for key, text in value.items():
            if key == _LEFT_OUT or not isinstance(text, str):
                continue
            known = _is_known_key(key)
            # The value of an unknown annotation may be anything, even a program: only that it is
            # equal stays.
            annotations[self.key(key)] = self._annotation(text) if known else self._hash(text)
        return annotations

    def _annotation(self, text: str) -> str:
        """Return the value of an annotation that everybody knows: numbers and known words stay."""
        if text in _PLAIN or is_amount(text) or is_numbers(text):
            return text
        if _is_name(text):
            return self.renaming.name(text)
        return self.renaming.words_of(text, _WORDS)

    def _hash(self, text: str) -> str:
        return f"x{hmac.digest(self._salt, text.encode(), hashlib.sha256).hex()[:12]}"

    def _other(self, event: Event, payload: dict[str, Any]) -> dict[str, Any]:
        """Return a payload that is not an object."""
        if event.kind == "config.applied":
            conf = redacted_conf(payload.get("parsed"), self)
            return {**payload, "text": conf.text, "parsed": conf.parsed, "configmap": ""}
        about = event.reference.kind
        if event.kind == "input.assumed":
            fields = [self._filled(filled_field, about) for filled_field in payload.pop("fields")]
            return {**self._members(payload, about), "fields": fields}
        if event.kind == "list.broken":  # What is wrong with a record is said in words.
            return {**self._members(payload, about), "first": ""}
        return self._members(payload, about)

    def _member(self, name: str, value: Any, payload: dict[str, Any], about: str) -> Any:
        """Return one member of a payload that is not an object."""
        if name in _TEXTS:
            # An empty value of the same type, as the field may be needed to decode it.
            return type(value)()
        if name in _NAMED:
            return self._names(value)
        match name:
            case "body" | "options":
                return self.document(value, about) if isinstance(value, dict) else None
            case "flags":
                return {
                    flag: self.renaming.words_of(text, _VALUES)
                    for flag, text in value.items()
                    if flag in _FLAGS
                }
            case "group":
                return self.group(value)
            case "listed":
                known = (payload.get("group", ""), value) in KINDS_OF_GROUPS
                return value if known else self._name(value)
            case "known" | "kinds":
                return [self._members(member, about) for member in value]
            case "reason":
                return value if value in REASONS else ""
            case "answer":
                return self._answer(value)
        return self._nested(value)

    def _filled(self, filled_field: dict[str, Any], about: str) -> dict[str, Any]:
        """Return a field that was filled in, with its path and what it got if packs know both."""
        field, value, first = (filled_field.pop(name) for name in ("field", "value", "first"))
        path, said = (field, value) if (field, value) in FILLED else ("", "")
        rest = self._members(filled_field, about)
        return {**rest, "field": path, "value": said, "first": self._name(first)}

    def _members(self, payload: dict[str, Any], about: str) -> dict[str, Any]:
        return {name: self._member(name, value, payload, about) for name, value in payload.items()}

    def _names(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._names(name) for name in value]
        return self.renaming.name(value) if isinstance(value, str) and value else value

    def _answer(self, value: Any) -> Any:
        """Return the answer of an extender: every text in it is a name or a message."""
        if isinstance(value, dict):
            return {key: self._answer(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._answer(item) for item in value]
        return self.renaming.name(value) if isinstance(value, str) and value else value


_NAMED = frozenset(
    {
        *("node", "task", "job", "queue", "namespaces", "uids", "session", "about"),
    }
)
"""Fields of payloads that are names."""


def _is_name(text: str) -> bool:
    """Return whether a text can be a name, or names joined by slashes."""
    return all(letter.isalnum() or letter in "-./" for letter in text)


def _is_known_key(key: str) -> bool:
    """Return whether everybody knows the key of a label or of an annotation."""
    domain, _, rest = key.rpartition("/")
    return key in KEYS or is_known_resource(key) or (f"{domain}/" in _CUSTOM and rest in _ROLES)
