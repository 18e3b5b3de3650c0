"""What steps do to components, worked out once for each situation and looked up from then on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..controllers.component import Component
from ..controllers.lister import TOMBSTONE
from ..kubernetes.api_server import (
    ADDED,
    DELETED,
    MODIFIED,
    ApiServer,
    ApiServerState,
    Document,
    ObjectKey,
    WatchEvent,
)
from ..kubernetes.object_table import ObjectTable
from ..model.panic import Panic
from .failing import Failing, NotedClient, failing_of
from .machine_layout import ComponentPart, MachineLayout, MachineStep
from .value_numbers import ValueTable

Notice = tuple[str, str, str, int]
"""What a channel holds: verb, kind, key, and the number of what is seen of the object."""

SYNCED = "SYNCED"
"""The verb of the notice behind a first list: from there on the process may do something itself."""

Act = Callable[[Component, Any], None]


_Counts = tuple[tuple[ObjectKey, int], ...]
_Stored = tuple[tuple[tuple[ObjectKey, int], ...], _Counts, _Counts]
"""What an API server holds, with documents by number."""


class Ability(NamedTuple):
    """What a component can do by itself: numbers of steps, and in how long something is due."""

    steps: tuple[int, ...]
    due: int | None


class Done(NamedTuple):
    """What a step did.

    :param part: what the component holds then, by number.
    :param api: what the API server holds then.
    :param notices: what channels get, each with the place of the channel.
    :param panic: the process ended with this message; ``part`` is that of a new one.
    :param writes: how many requests that write were sent, whatever came of them.
    """

    part: int
    api: int
    notices: tuple[tuple[int, int], ...] = ()
    panic: str = ""
    writes: int = 0


class Transitions:
    """The components of a machine as functions of numbers.

    :param parts: the components by name. :param layout: where they and their channels are.
    :param objects: numbers the documents.
    :ivar steps: all steps that were met. :ivar computed: how many transitions were worked out.
    """

    def __init__(
        self, parts: Mapping[str, ComponentPart], layout: MachineLayout, objects: ObjectTable
    ) -> None:
        self._by_name = parts
        self._parts = tuple(parts.values())
        self._names = tuple(parts)
        self._layout = layout
        self._objects = objects
        self._api: ValueTable[_Stored] = ValueTable()
        self._kept = tuple(ValueTable[Hashable]() for _ in parts)
        self.notices: ValueTable[Notice] = ValueTable()
        self.steps: ValueTable[MachineStep] = ValueTable()
        self._alone: dict[tuple[int, int, int], Done | None] = {}
        self._asking: dict[tuple[int, int, int, int], Done] = {}
        self._nothing = objects.number({})
        self._failed: dict[tuple[int, int, int, int, int], Done] = {}
        self._waited: dict[tuple[int, int, int], int] = {}
        self._abilities: dict[tuple[int, int], Ability] = {}
        self.computed = 0

    def empty_server(self) -> int:
        """Return the number of an API server that holds nothing."""
        return self.server_with(ApiServer())

    def server_with(self, server: ApiServer) -> int:
        """Return the number of what an API server holds."""
        objects, writes, created = server.kept()
        number = self._objects.number
        numbered = tuple((place, number(document)) for place, document in objects)
        return self._api.number((numbered, writes, created))

    def new_process(self, part: int) -> int:
        """Return the number of what a component holds that has seen nothing."""
        return self._kept[part].number(self._parts[part].make().kept())

    def listed(self, part: int, api: int) -> dict[str, tuple[int, ...]]:
        """Return what each informer of a process that starts is to deliver, by kind."""
        server = self.server(api)
        notices: dict[str, tuple[int, ...]] = {}
        sees = self._parts[part].sees
        for kind in self._parts[part].kinds:
            notices[kind] = tuple(
                self._notice(ADDED, kind, place.key, sees(kind, document))
                for place, document in server.kept().objects
                if place.kind == kind
            )
        return notices

    def synced(self, kind: str) -> int:
        """Return the number of the notice behind the first list of a kind."""
        return self.notices.number((SYNCED, kind, "", self._nothing))

    def missed(self, part: int, kind: str, then: int, now: int) -> Iterator[int]:
        """Yield what an informer delivers that lists a kind again, and saw nothing since then.

        An object that is another one of the same name is a change of it, and no deletion.

        Source: k8s.io/client-go/tools/cache delta_fifo.go Replace, controller.go processDeltas.

        :param then, now: what the API server held, by number.
        """
        old, new, sees = self._held(then, kind), self._held(now, kind), self._parts[part].sees
        for key, document in new.items():
            seen = sees(kind, document)
            if key not in old:
                yield self._notice(ADDED, kind, key, seen)
            elif sees(kind, old[key]) != seen:
                yield self._notice(MODIFIED, kind, key, seen)
        for key in sorted(old.keys() - new.keys()):
            yield self._notice(TOMBSTONE, kind, key, sees(kind, old[key]))

    def again(self, part: int, kind: str, api: int) -> Iterator[int]:
        """Yield what an informer delivers that delivers all objects of a kind again."""
        sees = self._parts[part].sees
        for key, document in self._held(api, kind).items():
            yield self._notice(MODIFIED, kind, key, sees(kind, document))

    def _held(self, api: int, kind: str) -> dict[str, Document]:
        """Return the objects of a kind that an API server holds, by key in order."""
        document = self._objects.document
        return {
            place.key: document(number) for place, number in self._api[api][0] if place.kind == kind
        }

    def server(self, number: int) -> ApiServer:
        """Return an API server that holds what has this number."""
        objects, writes, created = self._api[number]
        document = self._objects.document
        stored = tuple((place, document(object_number)) for place, object_number in objects)
        return ApiServer(ApiServerState(stored, writes, created))

    def kept(self, part: int, number: int) -> Hashable:
        """Return what a component holds that has this number."""
        return self._kept[part][number]

    def component(self, part: int, number: int) -> Component:
        """Return a component that holds what has this number."""
        component = self._parts[part].make()
        component.restore(self._kept[part][number])
        return component

    def document(self, notice: int) -> Document:
        """Return the document of a notice."""
        return self._objects.document(self.notices[notice][3])

    def ability(self, part: int, number: int) -> Ability:
        """Return what a component can do that holds what has this number."""
        known = self._abilities.get((part, number))
        if known is None:
            known = self._ask(part, number, self.component(part, number))
        return known

    def _ask(self, part: int, number: int, component: Component) -> Ability:
        """Note what a component can do, which holds what has this number."""
        name = self._names[part]
        steps = tuple(self.steps.number(MachineStep(name, "", step)) for step in component.steps())
        known = self._abilities[part, number] = Ability(steps, component.due())
        return known

    def _hold(self, part: int, component: Component) -> int:
        """Return the number of what a component holds; note what it can do then."""
        number = self._kept[part].number(component.kept())
        # Asked while there is a component: to restore one only for that question takes long.
        if (part, number) not in self._abilities:
            self._ask(part, number, component)
        return number

    def deliver(self, part: int, held: int, notice: int, api: int) -> Done:
        """Let an informer of a component deliver a notice."""
        done = self._alone.get((part, held, notice))
        if done is None:
            done = self._asking.get((part, held, notice, api))
            if done is None:
                if self.notices[notice][0] == SYNCED:
                    # The notice is for the process alone, which may do something from now on: no
                    # handler sees it.
                    return Done(held, -1)
                done = self._work_out((part, held, notice, api), self._delivery(part, notice))
        return done

    def _delivery(self, part: int, notice: int) -> Act:
        verb, kind, key, number = self.notices[notice]
        document = self._objects.document(number)
        if verb == TOMBSTONE and kind not in self._parts[part].tombstones:
            verb = DELETED
        return lambda component, client: component.deliver(verb, kind, key, document, client)

    def do(self, part: int, held: int, step: int, api: int) -> Done:
        """Let a component do something by itself."""
        # One table has notices and steps: steps are inverted, so that no number means both.
        done = self._alone.get((part, held, ~step))
        if done is None:
            done = self._asking.get((part, held, ~step, api))
            if done is None:
                name = self.steps[step].name
                done = self._work_out(
                    (part, held, ~step, api), lambda component, client: component.step(name, client)
                )
        return done

    def fail(self, part: int, held: int, step: int, notice: int, api: int) -> Done:
        """Let a component do a step of which one request fails.

        :param notice: what is delivered, if the step is a delivery.
        """
        key = (part, held, step, notice, api)
        done = self._failed.get(key)
        if done is None:
            failed = self.steps[step]
            failing = failing_of(failed.fault)
            assert failing is not None, "the step says which of its requests fails"
            name = failed.name
            act: Act = lambda component, client: component.step(name, client)  # noqa: E731
            if failed.kind:
                act = self._delivery(part, notice)
            done = self._failed[key] = self._worked_out((part, held, api), act, failing)
        return done

    def wait(self, part: int, held: int, by: int) -> int:
        """Let time pass for a component."""
        known = self._waited.get((part, held, by))
        if known is None:
            component = self.component(part, held)
            component.advance(by)
            known = self._waited[part, held, by] = self._hold(part, component)
        return known

    def _work_out(self, key: tuple[int, int, int, int], act: Act) -> Done:
        """Do a step, and note what came of it."""
        part, held, given, api = key
        done = self._worked_out((part, held, api), act)
        # What asked the API server for nothing does the same whatever that holds. So most steps are
        # worked out once for all its states.
        if done.api < 0:
            self._alone[part, held, given] = done
        else:
            self._asking[key] = done
        return done

    def _worked_out(
        self, at: tuple[int, int, int], act: Act, failing: Failing | None = None
    ) -> Done:
        """Do a step on a component made for it, and return what came of it."""
        self.computed += 1
        part, held, api = at
        component = self.component(part, held)
        client = NotedClient(lambda: self.server(api), failing)
        panic = ""
        try:
            act(component, client)
            after = self._hold(part, component)
        except Panic as fault:
            # What was written before the panic stays written: Go's process ends where it is.
            after, panic = self.new_process(part), str(fault)
        server = client.server
        assert server is not None or not client.writes, "a write reaches the API server"
        if server is None and not panic:
            return Done(after, -1)
        notices: tuple[tuple[int, int], ...] = ()
        if server is not None:
            notices = tuple(self._watched(server.take_changes(), api))
            api = self.server_with(server)
        return Done(after, api, notices, panic, client.writes)

    def _watched(self, changes: Iterable[WatchEvent], api: int) -> Iterator[tuple[int, int]]:
        """Yield what channels get of changes of what an API server held."""
        documents = {place: self._objects.document(number) for place, number in self._api[api][0]}
        for change in changes:
            at = ObjectKey(change.kind, change.key)
            for name, place in self._layout.watching.get(change.kind, ()):
                sees = self._by_name[name].sees
                seen = sees(change.kind, change.document)
                if change.verb != MODIFIED or sees(change.kind, documents[at]) != seen:
                    yield self._notice(change.verb, change.kind, change.key, seen), place
            # A step may write an object twice: each change is compared with the one before.
            documents[at] = change.document

    def _notice(self, verb: str, kind: str, key: str, seen: Document) -> int:
        return self.notices.number((verb, kind, key, self._objects.number(seen)))
