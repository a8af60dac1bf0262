"""What cases came to as JUnit's XML, which servers of continuous integration read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from stanchion_lab.policy_tests.suite import PlayedCase


def junit(played: Sequence[PlayedCase]) -> bytes:
    """A report with a suite for each table, and a case for each of its cases."""
    root = ElementTree.Element("testsuites", {"name": "stanchion test"})
    for file in dict.fromkeys([one.table for one in played]):
        here = [one for one in played if one.table == file]
        failed = sum([bool(one.complaints) for one in here])
        took = sum([one.took_s for one in here])
        about = {"name": file, "tests": str(len(here)), "failures": str(failed)}
        suite = ElementTree.SubElement(root, "testsuite", {**about, "time": f"{took:.3f}"})
        for one in here:
            about = {"name": one.name, "classname": file, "time": f"{one.took_s:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", about)
            if one.complaints:
                failure = ElementTree.SubElement(case, "failure", {"message": one.complaints[0]})
                failure.text = "\n".join(one.complaints)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text
