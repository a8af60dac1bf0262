"""Browser servers: what a click acts on, asked of the server itself just before it is judged. What
the agent says of an element is not believed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urljoin

from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from stanchion.hosts.contract.elements import ActedOn
from stanchion.hosts.mcp.relay import Relay
from stanchion.hosts.mcp.server_link import ServerLink
from stanchion.readings.page_snapshot import LONGEST, UNKNOWN, snapshot_of

FOCUS: Final = "@focus"
ACTING: Final = {
    "browser_click": ("target", "ref"),
    "browser_type": ("target", "ref"),
    "browser_select_option": ("target", "ref"),
    "browser_drop": ("target", "ref"),
    "browser_drag": ("startTarget", "endTarget", "startRef", "endRef"),
    "browser_fill_form": ("fields",),
    "browser_press_key": (FOCUS,),
}
"""The tools of Playwright's server that act on elements, and the arguments that name these."""
SNAPSHOT: Final = "browser_snapshot"
EVALUATE: Final = "browser_evaluate"
MOST: Final = 16
"""How many elements of one call are looked at; what is beyond is unknown."""
FORM: Final = """(e) => {
  const {closest, getAttribute, querySelector} = Element.prototype;
  const sent = closest.call(e, 'button, input') || e;
  const form = sent.form instanceof HTMLFormElement ? sent.form : closest.call(sent, 'form');
  if (!form) return null;
  const sends = ':not([type=button]):not([type=reset])';
  const by = querySelector.call(form, 'button' + sends + ', input[type=submit]');
  const named = [sent, by].map((one) => one && getAttribute.call(one, 'formaction'));
  const to = named[0] || named[1] || getAttribute.call(form, 'action') || '';
  const says = by ? by.innerText || by.value || '' : '';
  return {to: new URL(to, document.baseURI).href, by: says};
}"""
"""Asks the page where the form of an element goes, and what its button says."""


async def acted_on(relay: Relay, link: ServerLink, shown: str, args: Any) -> list[ActedOn]:
    """The elements that a call acts on; none where its tool acts on none, or its server does not
    show its pages."""
    tool = relay.by_name(shown)[1]
    if not isinstance(args, dict) or tool not in ACTING or link.usable.get(SNAPSHOT) != "":
        return []
    page = snapshot_of(await _text(relay, link, SNAPSHOT, {}))
    sends = bool(args.get("submit")) or args.get("key") in ("Enter", "NumpadEnter")
    found: list[ActedOn] = []
    for ref in list(_refs(tool, args))[: MOST + 1]:
        element = page.focus if ref == FOCUS else page.elements.get(ref)
        if ref == FOCUS and page.url and (element is None or element.role == "generic"):
            found.append(ActedOn("page"))
        elif element is None or len(found) == MOST:
            found.append(ActedOn())
        else:
            meant = element.within if element.within is not None else element
            url = urljoin(page.url, meant.url) if meant.url else ""
            known = ActedOn(meant.role, element.words, url, page=page.url)
            found.append(await _whole(relay, link, known, ref, sends))
    return found if found else [ActedOn()]


def _refs(tool: str, args: dict[str, Any]) -> Iterator[str]:
    for name in ACTING[tool]:
        value = FOCUS if name == FOCUS else args.get(name)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            named = one.get("target", one.get("ref")) if isinstance(one, dict) else one
            yield named if isinstance(named, str) else ""


async def _whole(relay: Relay, link: ServerLink, known: ActedOn, ref: str, sends: bool) -> ActedOn:
    """An element with where its form goes, and what stands on the button that sends it."""
    if link.usable.get(EVALUATE) != "":
        return known
    asked = {"function": FORM, "target": ref, "element": "the form"}
    if ref == FOCUS:
        asked = {"function": f"() => ({FORM})(document.activeElement || document.body)"}
    form = _result(await _text(relay, link, EVALUATE, asked))
    if form is None:
        return known
    if not isinstance(form, dict) or not isinstance(form.get("to"), str):
        return replace(known, role=UNKNOWN)
    by = str(form.get("by", ""))[:LONGEST] if sends else ""
    return replace(known, form_url=form["to"], submits=by)


async def _text(relay: Relay, link: ServerLink, tool: str, args: dict[str, Any]) -> str:
    """What a tool of the server answers to us; empty where it fails."""
    try:
        came = await link.request(relay.tasks, "tools/call", {"name": tool, "arguments": args})
    except MCPError:
        return ""
    content = came.get("content")
    blocks = content if isinstance(content, list) and not came.get("isError") else []
    return "\n".join([str(one.get("text", "")) for one in blocks if isinstance(one, dict)])


def _result(text: str) -> Any:
    """The value that the page gave; a text where it gave none that can be read."""
    said = text.removeprefix("### Result\n").partition("\n### ")[0]
    try:
        return json.loads(said) if text.startswith("### Result\n") else ""
    except ValueError:
        return ""
