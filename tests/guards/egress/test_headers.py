"""Headers of requests: they name no other host and no other method than the request has."""

from __future__ import annotations

import pytest

from stanchion.guards.egress.guard import EgressGuard
from stanchion.kernel.events import Egress, RunInfo
from stanchion.readings import read


def said(
    headers: dict[str, str], url: str = "https://example.com/", guard: EgressGuard | None = None
) -> str:
    """The code of what is said about a request; empty where nothing is."""
    guard = EgressGuard(resolve=False, methods=("GET",)) if guard is None else guard
    finding = guard.judge(
        read(Egress(id="e", at=0, run=RunInfo("r"), url=url, method="GET", headers=headers))
    )
    return "" if finding is None else finding.code


@pytest.mark.parametrize(
    "host",
    ["internal.test", "example.com:8443", ("example.com, "
                                          "internal.test"), "me@example.com", "example.com/x", "",
     "127.0.0.1", "exam\tple.com", "example.com?x"],
)  # fmt: skip
def test_another_host_in_the_header_is_refused(host: str) -> None:
    assert said({"host": host}) == "egress.ambiguous"
    assert said({"Host": host}) == "egress.ambiguous"


@pytest.mark.parametrize("host", ["example.com", "EXAMPLE.com.", "example.com:443"])
def test_the_same_host_in_the_header_goes_ahead(host: str) -> None:
    assert said({"host": host, "accept": "*/*"}) == ""


def test_an_address_in_the_header_is_the_one_in_the_url() -> None:
    assert said({"host": "[2600::1]:8080"}, "http://[2600:0::1]:8080/") == ""
    assert said({"host": "8.8.8.8"}, "http://8.8.8.8/") == ""
    assert said({"host": "8.8.4.4"}, "http://8.8.8.8/") == "egress.ambiguous"


def test_another_method_in_a_header_has_to_be_allowed() -> None:
    assert said({"X-HTTP-Method-Override": "delete"}) == "egress.method"
    assert said({"x-method-override": "get"}) == ""
    assert said({"X-HTTP-Method-Override": "DELETE"}, guard=EgressGuard(resolve=False)) == ""
