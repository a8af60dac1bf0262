"""Resolving: the addresses of a name, asked once for each request, and pinned to the decision that
judged them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.contract.powers import all_having
from stanchion.kernel.decision import Decision
from stanchion.kernel.lookups import Answered
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock

if TYPE_CHECKING:
    from concurrent.futures import Future

    from stanchion.policy.compiled import CompiledPolicy

Resolver = Callable[[str, int], Iterable[str]]
"""Gives the addresses of a host for a port, as texts; none where it has none. It may block."""

NOT_ASKED: Final[Any] = ("not asked",)
"""What a resolver gives that looks nothing up, where nothing leaves either: a name is judged by
itself alone."""

KEPT: Final = 256
"""How many answers are kept, so that all guards that judge one request judge the same addresses."""


def system(host: str, port: int) -> list[str]:
    """The addresses that this host's resolver gives, of both families, in its order; none where
    there are none."""
    import socket

    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys([str(place[0]) for *_, place in found]))


def addresses(asked: Any) -> dict[str, list[str]]:
    """The addresses of the host that a guard asks for."""
    return {"addresses": system(asked.host, asked.port)}


class Resolving:
    """Answers for a shield's guards. What one request asks for is looked up once, whoever asks: a
    name that points somewhere else a moment later is judged, and connected to, as it was."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._resolver = system if resolver is None else resolver
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, str, int], Future[list[str] | None]] = OrderedDict()

    def addresses(self, asked: Any) -> dict[str, Any]:
        """The same for every guard that asks for a host on behalf of one request; raises what the
        resolver raised."""
        question = (asked.event, asked.host, asked.port)
        with self._lock:
            answer = self._known.get(question)
            mine = answer is None
            if answer is None:
                from concurrent.futures import Future

                answer = self._known[question] = Future()
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        if mine:
            try:
                found = self._resolver(asked.host, asked.port)
                answer.set_result(None if found is NOT_ASKED else list(found))
            except BaseException as error:  # noqa: BLE001 - whatever it is, all who wait for the answer get it
                answer.set_exception(error)
        known = answer.result()
        return {"not_asked": True} if known is None else {"addresses": known}


def pinned(decision: Decision, url: str = "") -> tuple[str, ...]:
    """The addresses that were judged for a request, in order: connect to these and to no others.

    They are the ones its guards were given for the name, or the literal that `url` has for a host.
    None where no guard
    asked: nobody judged addresses then. `ValueError` where its guards were given different ones.
    """
    judged = [
        tuple([str(one) for one in answer.value["addresses"]])
        for _, answer in decision.inputs.answers
        if isinstance(answer, Answered)
        and isinstance(answer.value, dict)
        and set(answer.value) == {"addresses"}
    ]
    if judged:
        kept = tuple([one for one in judged[0] if all(one in others for others in judged[1:])])
        if not kept:
            raise ValueError(
                f"no address was judged by every guard of decision `{decision.id}`: ask for the "
                f"decision again"
            )
        return kept
    from stanchion.readings.urls import UrlTarget, url_of

    target = url_of(url) if url else None
    return (
        (str(target.literal),)
        if isinstance(target, UrlTarget) and target.literal is not None
        else ()
    )


def proxy_listed(policy: CompiledPolicy, proxy: str) -> bool:
    """Whether requests may go through a proxy: every enforced guard that judges hosts takes it."""
    enforced = [
        s.placed for s in policy.seats if not s.placed.shadow and Stage.EGRESS in s.placed.stages
    ]
    guards = all_having([placed.guard for placed in enforced], "takes_proxy")
    return bool(guards) and all(guard.takes_proxy(proxy) for guard in guards)
