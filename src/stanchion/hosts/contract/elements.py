"""Elements of a page: what a call of a browser acts on, as its host says it and not the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from stanchion.kernel.declared import EFFECTS, ELEMENT, strictest
from stanchion.readings.drafting import draft
from stanchion.readings.page_snapshot import UNKNOWN
from stanchion.readings.urls import UrlTarget, url_of

WRITTEN_IN: Final = frozenset(
    {"textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider", "checkbox", "radio"}
)
"""Roles of what is filled in: their words say what is asked for, not what happens."""
GONE: Final = "irreversible"


class ActedOn(msgspec.Struct, frozen=True):
    """One element that a call acts on: its role and text as the page has them, where a link leads,
    and where its form goes, as whole addresses. `page` is the address of the page; `submits` what
    stands on the button that a form is sent with, where the call sends one."""

    role: str = UNKNOWN
    text: str = ""
    url: str = ""
    form_url: str = ""
    page: str = ""
    submits: str = ""

    @property
    def effect(self) -> str:
        """What acting on it does, beside what the tool does: its words say it as a tool's name
        would. What nobody has seen, and a form that goes to another host than its page, count as
        what cannot be taken back."""
        if self.role == UNKNOWN or (self.form_url and not _same_host(self.form_url, self.page)):
            return GONE
        said = [self.submits] if self.role in WRITTEN_IN else [self.text, self.submits]
        return strictest(EFFECTS, [draft(words).effect for words in said if words])


def _same_host(url: str, page: str) -> bool:
    one, other = url_of(url), url_of(page)
    return isinstance(one, UrlTarget) and isinstance(other, UrlTarget) and one.host == other.host


def with_elements(args: Mapping[str, Any], elements: Sequence[ActedOn]) -> dict[str, Any]:
    """The arguments of a call with what it acts on beside them, as guards read it."""
    said: dict[str, Any] = {"effect": strictest(EFFECTS, [one.effect for one in elements])}
    for name in ("role", "text", "url", "form_url"):
        values = list(dict.fromkeys([getattr(one, name) for one in elements if getattr(one, name)]))
        if values:
            said[name] = values[0] if len(values) == 1 else values
    return {**args, ELEMENT: said}
