"""The parameters that several questions share."""

from __future__ import annotations

from .pages import CURSOR as CURSOR_PATTERN
from .pages import DEFAULT_LIMIT, MOST_LIMIT
from .parameters import Parameter, ParameterType

LONGEST_CONF = 10_000
"""The most characters of a configuration."""

LONGEST_MANIFEST = 200_000
"""The most characters of manifests."""

LONGEST_IN_ADDRESS = 10_000
"""The most characters of what may be a body, in an address: heads of requests are bounded."""

MOST_BUDGET = 60
"""The longest budget, in seconds."""

POINT = "@POSITION, rv:REVISION, a time, -5m (before the end), session:N or end"

AT = Parameter(name="at", about=f"The moment: {POINT}; with a branch: what-if@1042.")
SINCE = Parameter(name="since", about=f"From this point on: {POINT}.")
UNTIL = Parameter(name="until", about=f"Up to this point: {POINT}.")
NAMESPACE = Parameter(name="namespace", about="The namespace to look in.")
RELEASE = Parameter(name="release", about="The release of Volcano, as in v1.12.1.")
RELEASES = Parameter(
    name="release",
    about="A release of Volcano; give several to compare them.",
    required=True,
    many=True,
    argument="releases",
)
CONF = Parameter(
    name="conf",
    about="The text of a volcano-scheduler.conf, used instead of the one in the log.",
    longest=LONGEST_CONF,
)
TRY_CONF = Parameter(
    name="try_conf",
    about="The text of another volcano-scheduler.conf, compared with conf or that in the log.",
    longest=LONGEST_CONF,
)
ASSUME = Parameter(
    name="assume",
    about="Use the nearest release for an unknown one, and the built-in configuration for one "
    "that a release rejects.",
    kind=ParameterType.FLAG,
)
STRICT = Parameter(
    name="strict",
    about="Answer with an error if the log does not know all that the question needs.",
    kind=ParameterType.FLAG,
)
INVARIANTS = Parameter(
    name="invariant", about="Only this invariant, as in I-04.", many=True, argument="invariants"
)
LIMIT = Parameter(
    name="limit",
    about="The most members of each list.",
    kind=ParameterType.NUMBER,
    least=1,
    most=MOST_LIMIT,
    default=DEFAULT_LIMIT,
    option=None,
)
CURSOR = Parameter(
    name="cursor",
    about="The field next of an answer: read the next page.",
    pattern=CURSOR_PATTERN,
    option=None,
)
BUDGET = Parameter(
    name="budget",
    about="Stop to search after this time, as in 10s.",
    kind=ParameterType.DURATION,
    least=0,
    most=MOST_BUDGET,
    default="10s",
)
TIME = Parameter(
    name="budget",
    about="Give up after this time, as in 30s.",
    kind=ParameterType.DURATION,
    least=0,
    most=MOST_BUDGET,
    default=f"{MOST_BUDGET}s",
    option=None,
)
PAGES = (LIMIT, CURSOR)
ADD_NODE = Parameter(
    name="add_node",
    about="Add an empty node like this one.",
    many=True,
    argument="add_nodes",
    prefix="like=",
)
FOR = Parameter(
    name="for",
    about="For how long, as in 10m.",
    kind=ParameterType.DURATION,
    least=0,
    most=86_400,
    required=True,
    argument="for_",
)
LASTS = Parameter(
    name="for",
    about="How long to wait for a start, as in 10m.",
    kind=ParameterType.DURATION,
    least=0,
    most=86_400,
    argument="lasts",
)
MANIFEST = Parameter(
    name="manifest",
    about="The text of the manifests, in YAML or JSON.",
    required=True,
    longest=LONGEST_MANIFEST,
    option="-f",
    in_body=True,
)
TRY_RELEASE = Parameter(
    name="try_release", about="Another release, compared with release.", option="--release"
)
