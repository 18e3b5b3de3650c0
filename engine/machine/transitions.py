"""What steps do to components, worked out once for each situation and looked up from then on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..controllers.component import Component
from ..kubernetes.api_server import ADDED, MODIFIED, ApiServer, Change, Document, Kept, Place
from ..kubernetes.object_table import ObjectTable
from ..model.panic import Panic
from .layout import Layout, Part, Step
from .table import Table

Notice = tuple[str, str, str, int]
"""What a channel holds: verb, kind, key, and the number of what is seen of the object."""

Act = Callable[[Component, Any], None]


_Counts = tuple[tuple[Place, int], ...]
_Stored = tuple[tuple[tuple[Place, int], ...], _Counts, _Counts]
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
    """

    part: int
    api: int
    notices: tuple[tuple[int, int], ...] = ()
    panic: str = ""


class _Watched:
    """A client that notes whether it was used: only then does a step depend on the API server."""

    def __init__(self, server: Callable[[], ApiServer]) -> None:
        self._server = server
        self.server: ApiServer | None = None

    def __getattr__(self, name: str) -> Any:
        if self.server is None:
            self.server = self._server()
        return getattr(self.server, name)


class Transitions:
    """The components of a machine as functions of numbers.

    :param parts: the components by name. :param layout: where they and their channels are.
    :param objects: numbers the documents.
    :ivar steps: all steps that were met. :ivar computed: how many transitions were worked out.
    """

    def __init__(self, parts: Mapping[str, Part], layout: Layout, objects: ObjectTable) -> None:
        self._by_name = parts
        self._parts = tuple(parts.values())
        self._names = tuple(parts)
        self._layout = layout
        self._objects = objects
        self._api: Table[_Stored] = Table()
        self._kept = tuple(Table[Hashable]() for _ in parts)
        self.notices: Table[Notice] = Table()
        self.steps: Table[Step] = Table()
        self._alone: dict[tuple[int, int, int], Done | None] = {}
        self._asking: dict[tuple[int, int, int, int], Done] = {}
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
        held = tuple((place, number(one)) for place, one in objects)
        return self._api.number((held, writes, created))

    def new_process(self, part: int) -> int:
        """Return the number of what a component holds that has seen nothing."""
        return self._kept[part].number(self._parts[part].make().kept())

    def listed(self, part: int, api: int) -> dict[str, tuple[int, ...]]:
        """Return what each informer of a process that starts is to deliver, by kind."""
        server = self.server(api)
        found: dict[str, tuple[int, ...]] = {}
        sees = self._parts[part].sees
        for kind in self._parts[part].kinds:
            found[kind] = tuple(
                self._notice(ADDED, kind, place.key, sees(kind, document))
                for place, document in server.kept().objects
                if place.kind == kind
            )
        return found

    def server(self, number: int) -> ApiServer:
        """Return an API server that holds what has this number."""
        objects, writes, created = self._api[number]
        document = self._objects.document
        held = tuple((place, document(one)) for place, one in objects)
        return ApiServer(Kept(held, writes, created))

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
            component, name = self.component(part, number), self._names[part]
            steps = tuple(self.steps.number(Step(name, "", one)) for one in component.steps())
            known = self._abilities[part, number] = Ability(steps, component.due())
        return known

    def deliver(self, part: int, held: int, notice: int, api: int) -> Done:
        """Let an informer of a component deliver a notice."""
        done = self._alone.get((part, held, notice))
        if done is None:
            done = self._asking.get((part, held, notice, api))
            if done is None:
                verb, kind, key, number = self.notices[notice]
                document = self._objects.document(number)
                done = self._work_out(
                    (part, held, notice, api),
                    lambda one, client: one.deliver(verb, kind, key, document, client),
                )
        return done

    def do(self, part: int, held: int, step: int, api: int) -> Done:
        """Let a component do something by itself."""
        done = self._alone.get((part, held, ~step))
        if done is None:
            done = self._asking.get((part, held, ~step, api))
            if done is None:
                name = self.steps[step].name
                done = self._work_out(
                    (part, held, ~step, api), lambda one, client: one.step(name, client)
                )
        return done

    def wait(self, part: int, held: int, by: int) -> int:
        """Let time pass for a component."""
        known = self._waited.get((part, held, by))
        if known is None:
            component = self.component(part, held)
            component.advance(by)
            known = self._waited[part, held, by] = self._kept[part].number(component.kept())
        return known

    def _work_out(self, key: tuple[int, int, int, int], act: Act) -> Done:
        """Do a step on a component made for it, and note what came of it."""
        self.computed += 1
        part, held, given, api = key
        component = self.component(part, held)
        client = _Watched(lambda: self.server(api))
        panic = ""
        try:
            act(component, client)
            after = self._kept[part].number(component.kept())
        except Panic as fault:
            after, panic = self.new_process(part), str(fault)
        server = client.server
        if server is None and not panic:
            done = self._alone[part, held, given] = Done(after, -1)
            return done
        notices: tuple[tuple[int, int], ...] = ()
        if server is not None:
            notices = tuple(self._watched(server.take_changes(), api))
            api = self.server_with(server)
        done = self._asking[key] = Done(after, api, notices, panic)
        return done

    def _watched(self, changes: Iterable[Change], api: int) -> Iterator[tuple[int, int]]:
        """Yield what channels get of changes of what an API server held."""
        held = {place: self._objects.document(one) for place, one in self._api[api][0]}
        for change in changes:
            at = Place(change.kind, change.key)
            for name, place in self._layout.watching.get(change.kind, ()):
                sees = self._by_name[name].sees
                seen = sees(change.kind, change.document)
                if change.verb != MODIFIED or sees(change.kind, held[at]) != seen:
                    yield self._notice(change.verb, change.kind, change.key, seen), place
            held[at] = change.document

    def _notice(self, verb: str, kind: str, key: str, seen: Document) -> int:
        return self.notices.number((verb, kind, key, self._objects.number(seen)))
