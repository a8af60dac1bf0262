"""Learning: the policy of what a run has reached by its door, for a person to read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from stanchion.readings.addresses import address_of, inside
from stanchion.readings.urls import url_of

MOST_PLACES: Final = 4_096
HEAD: Final = """\
# Written from what one run has asked for. Nobody has said that it may: read each line, take out
# what nobody needs, and put names below a name together (`*.example.com`).
name: learned
extends: {base}
guards:
  - use: egress
"""


class LearnedPlaces:
    """The places that a run was let through to, or refused."""

    def __init__(self) -> None:
        self._reached: dict[str, Counter[str]] = {}
        self._inside: set[str] = set()
        self._refused: dict[str, str] = {}

    def reached(self, url: str, method: str, addresses: tuple[str, ...]) -> None:
        """It was let through, to these addresses."""
        place = _place(url)
        if place and (place in self._reached or len(self._reached) < MOST_PLACES):
            self._reached.setdefault(place, Counter())[method] += 1
            if any(inside(address_of(address)) for address in addresses):
                self._inside.add(place)

    def refused(self, url: str, code: str) -> None:
        """It was refused, with a code."""
        place = _place(url)
        if place and len(self._refused) < MOST_PLACES:
            self._refused.setdefault(place, code)

    def policy(self, base: str) -> str:
        """A policy that lets through what was reached, and nothing else, over another one."""
        lines = [HEAD.format(base=json.dumps(base)).rstrip()]
        lines += self._listed("allowed_hosts", sorted(self._reached))
        lines += self._listed("internal_hosts", sorted(self._inside))
        methods = sorted(set().union(*self._reached.values()))
        lines += [f"    methods: {json.dumps(methods)}"]
        lines += [
            f"# refused, and not let through by this policy: {place} ({code})"
            for place, code in sorted(self._refused.items())
            if place not in self._reached
        ]
        return "\n".join(lines) + "\n"

    def _listed(self, name: str, places: list[str]) -> Iterator[str]:
        yield f"    {name}:" if places else f"    {name}: []"
        for place in places:
            said = ", ".join([f"{name} {times}" for name, times in self._reached[place].items()])
            yield f"      - {json.dumps(place)}  # {said}"


def _place(url: str) -> str:
    """The host and the port of a URL, as lists of hosts have them; empty where it has none."""
    target = url_of(url)
    host = getattr(target, "host", "")
    port = getattr(target, "port", None)
    if not host or port is None:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
