"""Messages of any kind: the proxy passes on what it does not know the parts of."""

from __future__ import annotations

from typing import Any

from mcp_types import NotificationParams, RequestParams, Result
from mcp_types._types import Notification, Request
from pydantic import ConfigDict


class AnyParams(RequestParams):
    """The parameters of a request, all of them."""

    model_config = ConfigDict(extra="allow")


class AnyNoticeParams(NotificationParams):
    """The parameters of a notification, all of them."""

    model_config = ConfigDict(extra="allow")


class AnyRequest(Request[AnyParams | None, str]):
    """A request to the client."""

    method: str
    params: AnyParams | None = None


class AnyNotice(Notification[AnyNoticeParams | None, str]):
    """A notification to the client."""

    method: str
    params: AnyNoticeParams | None = None


class AnyResult(Result):
    """What the client answers, all of it."""

    model_config = ConfigDict(extra="allow")


def request(method: str, params: dict[str, Any]) -> AnyRequest:
    """A request as the client is sent it."""
    return AnyRequest(method=method, params=AnyParams.model_validate(params) if params else None)


def notice(method: str, params: dict[str, Any]) -> AnyNotice:
    """A notification as the client is sent it."""
    return AnyNotice(
        method=method, params=AnyNoticeParams.model_validate(params) if params else None
    )


def raw(result: Result) -> dict[str, Any]:
    """An answer as it came."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)
