"""A review as JUnit XML, in the shape that Maven's Surefire writes and servers read.

A test case is a result, or a rule of which nothing was found. It fails if the command counts the
result as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from .review_records import Result, Review

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def junit_text(review: Review) -> str:
    """Return a review as a test suite."""
    cases = list(_cases(review))
    suite = ET.Element(
        "testsuite",
        {
            "name": f"plinian {review.command}",
            "time": "0",
            "tests": str(len(cases)),
            "errors": str(_count(cases, "error")),
            "skipped": str(_count(cases, "skipped")),
            "failures": str(_count(cases, "failure")),
        },
    )
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", {"name": "checked", "value": _safe(review.title)})
    suite.extend(cases)
    ET.indent(suite)
    text = ET.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _cases(review: Review) -> Iterator[ET.Element]:
    group = f"plinian.{review.command}"
    for result in review.results:
        yield _of_result(result, f"{group}.{result.rule}")
    for rule in review.passed():
        yield _case(f"{group}.{rule.id}", rule.about.replace("``", ""))
    for skipped in review.skipped:
        case = _case(f"{group}.{skipped.rule}", "not checked")
        ET.SubElement(case, "skipped", {"message": _safe(skipped.why)})
        yield case
    if review.unknown:
        case = _case(group, "an answer")
        ET.SubElement(case, "error", {"message": _safe(review.unknown), "type": "unknown"})
        yield case


def _of_result(result: Result, group: str) -> ET.Element:
    named = (result.object, result.key, "" if result.region is None else str(result.region))
    case = _case(group, " ".join(filter(None, named)))
    text = "\n".join(_lines(result))
    # What the command does not count as a failure must not fail a pipeline.
    if result.fails:
        about = {"message": _safe(result.message), "type": result.level.value}
        ET.SubElement(case, "failure", about).text = _safe(text)
    else:
        ET.SubElement(case, "system-out").text = _safe(f"{result.level.value}: {text}")
    return case


def _lines(result: Result) -> Iterator[str]:
    yield f"{result.object}: {result.message}" if result.object else result.message
    if result.region is not None:
        yield f"at {result.region}"
    if result.now:
        yield f"to do: {result.now}"
    for name, value in result.more.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{name}: {shown}"


def _case(group: str, name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": _safe(group), "name": _safe(name), "time": "0"})


def _count(cases: list[ET.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)


def _safe(text: str) -> str:
    r"""Return text that XML can hold: other characters are written as ``\u001b``."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
