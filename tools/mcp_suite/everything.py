"""`server-everything` with the proxy and without it: each thing that it has, asked for in both ways
and compared."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

PATIENCE_S: Final = 30
SAMPLES: Final[dict[str, Any]] = {
    "string": "paris",
    "integer": 2,
    "number": 2,
    "boolean": True,
    "array": [],
    "object": {},
}
"""What is given for an argument of a type, unless the tool says which it takes."""
CHANGING: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b\d{1,2}:\d\d:\d\d( [AP]M)?|0\.\d+|[0-9a-f]{8}-[0-9a-f-]{27}"
)
"""Times and ids, which differ each time."""
BLOB: Final = re.compile(r"'blob': '([^']*)'")
FOR_ITSELF: Final = frozenset({"get-env"})
"""Tools that tell of the process: it is another one behind the proxy."""


class Person:
    """Whoever sits before the client: answers what a server asks, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        """Refuse what is asked."""
        self.heard.append(("asked", params.message))
        return types.ElicitResult(action="decline")

    async def sample(self, context: Any, params: Any) -> types.CreateMessageResult:
        """Answer as a model."""
        self.heard.append(("sampled", len(params.messages)))
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text="hello"), model="m"
        )

    async def roots(self, context: Any) -> types.ListRootsResult:
        """Name a folder."""
        self.heard.append("roots")
        return types.ListRootsResult(
            roots=[types.Root.model_validate({"uri": "file:///tmp", "name": "tmp"})]
        )

    async def log(self, params: Any) -> None:
        """Hear a log message."""
        self.heard.append("log")

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress."""
        self.heard.append(("progress", (progress, total, message)))


def differences(plain: Sequence[str], behind: Sequence[str]) -> tuple[int, list[str]]:
    """How many things were compared, and which of them are not there or not the same behind the
    proxy."""
    one, other = anyio.run(_seen, plain), anyio.run(_seen, behind)
    lost = [
        f"{name}: {_short(came)} became {_short(other.get(name))}"
        for name, came in one.items()
        if other.get(name) != came
    ]
    return len(one), lost


async def _seen(words: Sequence[str]) -> dict[str, Any]:
    person = Person()
    server = StdioServerParameters(command=words[0], args=list(words[1:]), env=_environment())
    options: dict[str, Any] = {
        "mode": "legacy",
        "elicitation_callback": person.elicit,
        "sampling_callback": person.sample,
        "list_roots_callback": person.roots,
        "logging_callback": person.log,
        "cache": None,
    }
    seen: dict[str, Any] = {}
    async with Client(server, **options) as client:
        await anyio.sleep(1)  # it asks for the folders of its client by itself
        seen["server"] = (
            client.server_info.name if client.server_info else "",
            client.instructions,
        )
        for part in ("tools", "resources", "prompts", "logging", "completions"):
            seen[f"capability {part}"] = getattr(client.server_capabilities, part) is not None
        await _lists(client, seen)
        await _calls(client, person, seen)
    return seen


async def _lists(client: Client, seen: dict[str, Any]) -> None:
    for tool in (await client.list_tools()).tools:
        seen[f"tool {tool.name}"] = tool.model_dump()
    for prompt in (await client.list_prompts()).prompts:
        seen[f"prompt {prompt.name}"] = prompt.model_dump()
        given = {each.name: "paris" for each in prompt.arguments or []}
        seen[f"prompt {prompt.name} got"] = await _came(
            lambda p=prompt, g=given: client.get_prompt(p.name, g)  # type: ignore[misc]
        )
    for template in (await client.list_resource_templates()).resource_templates:
        seen[f"template {template.uri_template}"] = template.model_dump()
        uri = re.sub(r"\{\w+\}", "1", template.uri_template)
        seen[f"template {template.uri_template} read"] = await _came(
            lambda u=uri: client.read_resource(u)  # type: ignore[misc]
        )
    for resource in (await client.list_resources()).resources:
        seen[f"resource {resource.uri}"] = resource.model_dump()
        seen[f"resource {resource.uri} read"] = await _came(
            lambda r=resource: client.read_resource(r.uri)  # type: ignore[misc]
        )


async def _calls(client: Client, person: Person, seen: dict[str, Any]) -> None:
    for tool in (await client.list_tools()).tools:
        if tool.name in FOR_ITSELF:
            continue
        person.heard.clear()
        args = _arguments(tool.input_schema)
        seen[f"call {tool.name}"] = await _came(
            lambda t=tool, a=args: client.call_tool(t.name, a, progress_callback=person.progress)  # type: ignore[misc]
        )
        seen[f"call {tool.name} heard"] = sorted(
            {str(each) for each in person.heard if each != "log"}
        )


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in schema.get("required", []):
        about = schema.get("properties", {}).get(name, {})
        given[name] = about.get(
            "default", about.get("enum", [SAMPLES.get(about.get("type", "string"), "x")])[0]
        )
    return given


async def _came(ask: Callable[[], Awaitable[Any]]) -> Any:
    """What came, without what differs each time; of a failure its words."""
    try:
        with anyio.fail_after(PATIENCE_S):
            return CHANGING.sub("…", BLOB.sub(_read, str((await ask()).model_dump())))
    except TimeoutError:
        return "nothing in time"
    except Exception as error:  # noqa: BLE001 - failures are compared, too
        return f"{type(error).__name__}: {error}"


def _read(found: re.Match[str]) -> str:
    return f"'blob': {base64.b64decode(found[1])!r}"


def _short(came: Any) -> str:
    return str(came)[:300]


def _environment() -> dict[str, str]:
    return dict(os.environ)
