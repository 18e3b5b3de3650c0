"""The tree keeps the laws of ``tests/support/laws.py``, and every law can be broken."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator

import prose
import pytest
from callers import uncalled
from circles import circles, imports_of
from hypothesis import HealthCheck, settings
from parsed_tree import shipped_sources, sources

import laws
from layers import ORDER, framework_apart, layers, plugins_apart
from tree import ROOT, SHIPPED, files

Law = Callable[[laws.Source], Iterator[laws.Finding]]

EVERYWHERE = (laws.lengths, laws.names, laws.future_annotations, laws.time_limits)
IN_WHAT_IS_SHIPPED = (laws.imports, layers, laws.module_state, laws.docstrings, laws.prints)
IN_THE_ENGINE = (
    *(laws.clocks, laws.set_order, laws.releases, plugins_apart, framework_apart),
    prose.told,
)


def broken(law: Law, *tops: str) -> list[str]:
    """Return where a law is broken under the given top-level folders; none given means all."""
    return [
        str(finding)
        for source in sources()
        if not tops or source.path.parts[0] in tops
        for finding in law(source)
    ]


@pytest.mark.parametrize("law", EVERYWHERE, ids=lambda law: law.__name__)
def test_all_code_keeps_the_law_of(law: Law) -> None:
    assert not broken(law), "\n".join(broken(law))


@pytest.mark.parametrize("law", IN_WHAT_IS_SHIPPED, ids=lambda law: law.__name__)
def test_what_is_shipped_keeps_the_law_of(law: Law) -> None:
    assert not broken(law, *SHIPPED), "\n".join(broken(law, *SHIPPED))


@pytest.mark.parametrize("law", IN_THE_ENGINE, ids=lambda law: law.__name__)
def test_the_engine_keeps_the_law_of(law: Law) -> None:
    assert not broken(law, "engine"), "\n".join(broken(law, "engine"))


def test_no_module_of_what_is_shipped_imports_itself_through_others() -> None:
    shipped = shipped_sources()
    assert circles(imports_of(shipped)) == []


def test_nothing_takes_our_sentences_apart() -> None:
    shipped = shipped_sources()
    constants = prose.constants_of(shipped)
    found = [
        (prose.may_read(source), str(finding))
        for source in shipped
        for finding in prose.taken_apart(source, constants)
    ]
    assert [finding for part, finding in found if not part] == []
    excepted = {part for part, _ in found if part}
    assert excepted == {*prose.WRITTEN_BY_OTHERS, *prose.NOT_SENTENCES}, "these need no exception"


@pytest.mark.parametrize(
    "line",
    [
        'because.replace("its queue", name)',
        'text.startswith("no such")',
        "reason.removeprefix(LACKS)",
        'text.endswith((UNENDED, "."))',
        'sentence.partition(": ")',
        're.match(r"request (\\d+) is refused", text)',
        '"too few" in text',
    ],
)
def test_a_sentence_that_is_taken_apart_is_noticed(line: str) -> None:
    made = laws.parse("replay/b.py", 'LACKS, UNENDED = "Insufficient ", " does not end"\n')
    text = f"from .b import LACKS, UNENDED\n{line}\n"
    found = prose.taken_apart(laws.parse("replay/a.py", text), prose.constants_of([made]))
    assert [finding.line for finding in found] == [2]


def test_names_and_paths_may_be_taken_apart() -> None:
    text = 'key.partition("/")\npath.startswith("spec.")\n"unlimited" in text\n'
    assert list(prose.taken_apart(laws.parse("replay/a.py", text), {})) == []


NAMING = (".py", ".html", ".js", ".toml", ".md", ".cfg", ".ini", ".sql")
"""How files end that may name what is shipped."""


def test_nothing_is_shipped_that_nothing_names() -> None:
    shipped = shipped_sources()
    everything = (ROOT / path for path in files() if path.endswith(NAMING))
    texts = (path.read_text("utf-8") for path in everything)
    assert list(map(str, uncalled(shipped, texts))) == []


def test_what_nothing_names_is_noticed() -> None:
    text = "FIRST = 1\ndef second(): return third()\nclass Fourth:\n  def fifth(self): pass\n"
    found = uncalled([laws.parse("engine/x.py", text)], [text, "FIRST Fourth"])
    assert list(map(str, found)) == [
        "engine/x.py:2: nothing names second: remove it",
        "engine/x.py:4: nothing names fifth: remove it",
    ]


def test_no_file_leaves_traces_of_a_machine_or_of_unfinished_work() -> None:
    found = []
    for path in files():
        raw = (ROOT / path).read_bytes()
        # Recordings are what a real cluster wrote: whatever they name, they name it truly.
        if b"\0" in raw or path.startswith("replay/recordings/"):
            continue
        found += [str(finding) for finding in laws.traces(path, raw.decode("utf-8", "replace"))]
    assert not found, "\n".join(found)


ROOT_HOLDS = frozenset(
    (
        *("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "README.md"),
        *("README.zh-CN.md", "SECURITY.md", "action.yml", "mkdocs.yml"),
        *("Dockerfile", "docker-compose.yml", "MANIFEST.in", "pyproject.toml"),
        *(".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-hooks.yaml"),
        *("benchmarks", "docs", "engine", "migrations", "replay", "skills", "tests", "tools"),
    )
)


def test_the_root_holds_what_is_listed_and_nothing_else() -> None:
    """A file that a command wrote by mistake is easily added together with others."""
    if not (ROOT / ".git").exists():
        pytest.skip("without git nothing says which files are of the project")
    assert {path.partition("/")[0] for path in files()} == ROOT_HOLDS


def test_one_module_reads_the_clock_of_the_machine_in_microseconds() -> None:
    reading = {str(source.path) for source in sources() if "time_ns() // 1000" in source.text}
    assert reading - {"tests/project/test_tidy.py"} == {"engine/log/wall_clock.py"}


def test_the_law_reads_a_tree_that_is_there() -> None:
    """A check of no files would pass for ever."""
    modules = {source.module for source in sources()}
    assert {"plinian", "plinian.engine.events.kinds", "plinian.engine.log.store"} <= modules


def test_every_folder_has_its_place_in_the_order() -> None:
    packages = {
        source.module.removeprefix("plinian").removeprefix(".")
        for source in sources()
        if source.path.parts[0] in SHIPPED and source.path.name == "__init__.py"
    }
    assert packages == set(ORDER)


def test_the_wheel_has_every_folder() -> None:
    """A folder that the list of packages lacks works in a checkout, and nowhere else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = project["tool"]["setuptools"]["packages"]
    folders = {f"plinian.{folder}" if folder else "plinian" for folder in ORDER}
    assert folders <= set(listed)
    assert len(listed) == len(set(listed))


def test_every_exception_from_purity_still_exists() -> None:
    modules = {source.module for source in sources()}
    assert set(laws.SHELL_OF_INGEST) <= modules


HEAD = '"""About."""\n\nfrom __future__ import annotations\n\n'

BREAKERS = [
    (laws.lengths, "engine/a.py", "x = 1\n" * 801, "split the module"),
    (laws.lengths, "engine/a.py", f"x = '{'y' * 100}'\n", "break the line"),
    (laws.lengths, "engine/a.py", "def f():\n" + "    x = 1\n" * 50, "split the function"),
    (laws.lengths, "engine/a.py", "def f(\n" + "\n" * 50 + "):\n    x = 1\n", "split the function"),
    (laws.imports, "engine/state/a.py", "import sqlite3\n", "pure part imports sqlite3"),
    (laws.imports, "engine/events/a.py", "from time import monotonic\n", "imports time"),
    (laws.imports, "engine/ingest/audit/audit_log.py", "import pathlib\n", "imports pathlib"),
    (laws.imports, "engine/kubernetes/units.py", "def f():\n    import random\n", "imports random"),
    (layers, "engine/log/a.py", "from ...replay import points\n", "replay, which is above it"),
    (layers, "engine/log/a.py", "from ..state.truth import Truth\n", "state, which is above it"),
    (layers, "engine/log/a.py", "from .. import state\n", "state, which is above it"),
    (layers, "engine/ingest/reading/a.py", "from ...log import store\n", "log, which is above it"),
    (layers, "engine/model/a.py", "if T:\n    from ..cache import cache\n", "which is above it"),
    (layers, "engine/log/a.py", "from ..ingest import order\n", "may not import engine.ingest"),
    (layers, "engine/session/jobs/a.py", "if T:\n    from ..framework import a\n", "is above it"),
    (layers, "engine/session/kube/a.py", "from ..plugins.shared import a\n", "is above it"),
    (
        plugins_apart,
        "engine/session/plugins/a.py",
        "from .b import x\n",
        "plugin a imports plugin b",
    ),
    (plugins_apart, "engine/session/plugins/a/c.py", "from ..b.d import x\n", "a imports plugin b"),
    (plugins_apart, "engine/session/plugins/shared/a.py", "from ..b import x\n", "shared imports"),
    (framework_apart, "engine/session/framework/a.py", "from ..plugins.b import x\n", "plugins.b"),
    (
        framework_apart,
        "engine/session/framework/a.py",
        "if T:\n    from .. import actions\n",
        "session.actions",
    ),
    (layers, "replay/moments/a.py", "from ..ingest import run\n", "which is above it"),
    (laws.imports, "engine/log/a.py", "import rich.table\n", "replay/render"),
    (laws.imports, "replay/a.py", "from plinian.engine import units\n", "relatively"),
    (laws.imports, "replay/a.py", "import engine.units\n", "plinian.engine"),
    (laws.imports, "migrations/versions/a.py", "from ...engine import units\n", "must not change"),
    (laws.clocks, "engine/kubernetes/units.py", "datetime.now(UTC)\n", "reads the clock"),
    (laws.releases, "engine/session/a.py", 'x = "v1.12.1"\n', "names a release"),
    (laws.releases, "engine/cache/a.py", "x = release.minor\n", "looks into a release"),
    (laws.releases, "engine/model/a.py", 'x = "v1.12.1"\n', "names a release"),
    (laws.releases, "engine/ingest/audit/a.py", 'x = "v1.12.1"\n', "names a release"),
    (laws.releases, "engine/log/a.py", "x = release.patch\n", "looks into a release"),
    (laws.releases, "engine/volcano/conf.py", "x = a.release < b\n", "compares releases"),
    (prose.told, "engine/a.py", 'trace.add("a", outcome=f"{n} of {m} nodes")\n', "a fact is told"),
    (prose.told, "engine/a.py", 'Gated(by="the queue is full")\n', "a fact is told"),
    (laws.names, "engine/utils.py", "", "says nothing"),
    (laws.names, "engine/a.py", "class LogManager:\n    pass\n", "name what it does"),
    (laws.names, "engine/a.py", "def sort_helper():\n    pass\n", "name what it does"),
    (laws.module_state, "engine/a.py", "CACHE = {}\n", "can change"),
    (laws.module_state, "engine/a.py", "SEEN: set[str] = set()\n", "can change"),
    (laws.module_state, "engine/a.py", "if True:\n    rows = [1]\n", "can change"),
    (laws.module_state, "engine/a.py", "A = collections.defaultdict(int)\n", "can change"),
    (laws.module_state, "engine/a.py", "def f():\n    global x\n", "pass the value"),
    (laws.docstrings, "engine/a.py", "x = 1\n", "module has no docstring"),
    (laws.docstrings, "engine/a.py", '"""A."""\ndef f():\n    pass\n', "f has no docstring"),
    (
        laws.docstrings,
        "engine/a.py",
        '"""A."""\nclass A:\n    """A."""\n    def f(self):\n        pass\n',
        "f has no docstring",
    ),
    (laws.prints, "replay/truth/truth.py", "print(1)\n", "print outside"),
    (laws.future_annotations, "engine/a.py", '"""A."""\nx = 1\n', "__future__"),
    (laws.time_limits, "tests/test_a.py", "@settings(deadline=200)\ndef f(): ...\n", "deadline"),
    (
        laws.time_limits,
        "tests/test_a.py",
        "@settings(suppress_health_check=[HealthCheck.nested_given])\ndef f(): ...\n",
        "too_slow",
    ),
    (laws.set_order, "engine/a.py", "for x in set(y):\n    pass\n", "order of a set"),
    (laws.set_order, "engine/a.py", "[x for x in {1, 2} | y]\n", "order of a set"),
    (laws.set_order, "engine/a.py", "list({x for x in y})\n", "order of a set"),
    (laws.set_order, "engine/a.py", "','.join(set(y))\n", "order of a set"),
    (laws.set_order, "engine/a.py", "a = set()\nfor x in a:\n    pass\n", "order of a set"),
    (laws.set_order, "engine/a.py", "def f(a: set[str]):\n    return [*map(g, a)]\n", "order"),
]


@pytest.mark.parametrize(("law", "path", "text", "message"), BREAKERS)
def test_a_law_finds_what_breaks_it(law: Law, path: str, text: str, message: str) -> None:
    found = [str(finding) for finding in law(laws.parse(path, text))]
    assert len(found) == 1, found
    assert message in found[0]
    assert found[0].startswith(path)


def test_no_property_fails_because_the_machine_is_busy() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


NL = "\n"

KEEPERS = [
    (laws.lengths, "engine/a.py", "def f():\n" + "    x = 1\n" * 49),
    (laws.lengths, "engine/a.py", f"def f():\n    '''{'A.' + NL * 60}'''\n    x = 1\n"),
    (laws.lengths, "replay/cli/a.py", f"def f(\n{'    a,' + NL * 60}):\n    x = 1\n"),
    (laws.imports, "engine/ingest/reading/inputs.py", "import os\n"),
    (laws.imports, "engine/log/sqlite.py", "import sqlite3\n"),
    (layers, "engine/cache/a.py", "from ..kubernetes.go import text\n"),
    (laws.imports, "replay/a.py", "from ..engine.log import open_log\n"),
    (laws.imports, "replay/api/__init__.py", "from .engine.log import open_log\n"),
    (laws.releases, "engine/volcano/session/preempt.py", 'x = y > "v1.12.1"\n'),
    (laws.releases, "engine/session/a.py", '"""Read at v1.12.1."""\n'),
    (laws.releases, "engine/session/a.py", 'group = "scheduling.volcano.sh/v1beta1"\n'),
    (laws.names, "engine/a.py", "class ControlMarked:\n    pass\n"),
    (laws.module_state, "engine/a.py", "__all__ = ['a']\nX = MappingProxyType({})\n"),
    (laws.module_state, "engine/a.py", "def f():\n    rows = []\n"),
    (laws.docstrings, "engine/a.py", ""),
    (laws.docstrings, "engine/a.py", '"""A."""\ndef _f():\n    pass\n'),
    (laws.prints, "replay/cli/get.py", "print(1)\n"),
    (laws.future_annotations, "engine/a.py", '"""A."""\n'),
    (laws.future_annotations, "engine/__init__.py", 'from .a import b\n\n__all__ = ["b"]\n'),
    (laws.set_order, "engine/a.py", "for x in sorted(set(y)):\n    pass\nlen(set(y))\n"),
    (laws.set_order, "engine/a.py", "a = {x for x in set(y)}\n"),
    (laws.time_limits, "tests/test_a.py", "@settings(max_examples=9)\ndef f(): ...\n"),
    (
        laws.time_limits,
        "tests/test_a.py",
        "@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])\ndef f(): ...\n",
    ),
    (
        laws.set_order,
        "engine/a.py",
        "def f():\n    a = {1}\n\ndef g():\n    a = [1]\n    for x in a:\n        pass\n",
    ),
]


@pytest.mark.parametrize(("law", "path", "text"), KEEPERS)
def test_a_law_lets_through_what_keeps_it(law: Law, path: str, text: str) -> None:
    assert list(law(laws.parse(path, text))) == []


@pytest.mark.parametrize(
    "line",
    [
        "from .a import x\n",
        "from . import a\n",
        "import plinian.engine.a\n",
        "if TYPE_CHECKING:\n    from .a import x\n",
        "def f():\n    from ..engine.a import x\n",
    ],
)
def test_a_circle_is_found_wherever_its_imports_stand(line: str) -> None:
    texts = {
        "engine/__init__.py": "",
        "engine/a.py": "from .b import y\n",
        "engine/b.py": "from .c import z\n",
        "engine/c.py": line,
        "engine/d.py": "from .a import x\n",
    }
    imports = imports_of(laws.parse(path, text) for path, text in texts.items())
    assert circles(imports) == [("plinian.engine.a", "plinian.engine.b", "plinian.engine.c")]


def test_a_package_is_in_a_circle_with_a_module_that_uses_what_it_passes_on() -> None:
    package = laws.parse("engine/log/__init__.py", "from .store import x\n")
    outside = laws.parse("engine/a.py", "from .log import x\n")
    apart = laws.parse("engine/log/store.py", "from .files import y\n")
    round_about = laws.parse("engine/log/store.py", "from . import y\n")
    assert circles(imports_of([package, outside, apart])) == []
    assert circles(imports_of([package, outside, round_about])) == [
        ("plinian.engine.log", "plinian.engine.log.store")
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("# TO" + "DO: later", "finish it"),
        ("see /wo" + "rk/main/engine", "path of one machine"),
        ("home is '/ro" + "ot'", "path of one machine"),
        ("index-url = pypi.o" + "rg", "registry"),
    ],
)
def test_traces_are_found_in_any_text(line: str, message: str) -> None:
    found = list(laws.traces("docs/a.md", f"fine\n{line}\n"))
    assert [(finding.line, message in finding.what) for finding in found] == [(2, True)]


def test_a_queue_path_is_no_trace_of_a_machine() -> None:
    assert list(laws.traces("docs/a.md", "hierarchy: root/sci, a/root/b, /rootless\n")) == []


def test_a_head_that_breaks_no_law_is_possible() -> None:
    source = laws.parse("engine/a.py", HEAD + 'X = 1\n"""One."""\n')
    every = (*EVERYWHERE, *IN_WHAT_IS_SHIPPED, *IN_THE_ENGINE)
    assert [finding for law in every for finding in law(source)] == []
