"""The runs that an adapter works in: the one that it was given, or those of a shield, which it
begins as its framework begins its threads, sessions and invocations."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar
from uuid import uuid4
from weakref import finalize

from stanchion.hosts.contract.host import Host, Hosted
from stanchion.locks import Lock
from stanchion.runtime.calling.call_methods import CallsOnce
from stanchion.runtime.calling.tool_options import Shielding
from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.setting import setting
from stanchion.runtime.shield import Shield

if TYPE_CHECKING:
    from stanchion.runtime.run import Run

P = TypeVar("P")

MOST: Final = 1_000
"""How many threads or sessions an adapter keeps the run of; the longest unused is closed first. Its
next message goes on in the same run: what was ended or used up stays so."""

MOST_THROUGH_A_BROKER: Final = 100
"""The same where a broker judges, which bounds how many runs its user has open; there a thread that
was closed begins anew, unless it had ended."""
MOST_ENDED: Final = 10_000
"""Of how many threads it is remembered that they had ended, where a broker names the runs."""


class Work(Generic[P]):
    """A run, what the adapter has made for it, and whether it is kept when its invocations have
    ended."""

    __slots__ = ("hosted", "kept", "made", "using")

    def __init__(self, hosted: Hosted, made: P) -> None:
        self.hosted, self.made, self.kept, self.using = hosted, made, False, 0


class AtWork(NamedTuple):
    """What is at work in a context, in which adapter, and for the shield or run that was given."""

    adapter: str
    given: Any
    works: Any
    hosted: Hosted
    made: Any
    children: dict[tuple[Works[Any], str | int], tuple[Any, Work[Any]]]
    """What works for threads and objects within it, until it is done. Whose they are is kept with
    them: an id alone would be another's once they are gone."""


_AT_WORK: ContextVar[tuple[AtWork, ...]] = ContextVar("stanchion_at_work", default=())


class Works(Generic[P]):
    """The runs that an adapter works in: the one that it was given, or one of a shield's for each
    thread, session or invocation that its framework names.

    `made` makes the adapter's own state for a run. `agent` and `task` are what its user says of it,
    and go before what the framework says. Where another agent of the same adapter and shield is at
    work in the caller's context, each new run is its child. Safe between threads and tasks.
    """

    def __init__(
        self,
        host: Host,
        given: Shield | Run | Hosted,
        made: Callable[[Hosted], P],
        *,
        agent: str = "",
        task: str = "",
    ) -> None:
        self._host, self._make = host, made
        self._agent, self._task = agent, task
        self._kept: OrderedDict[str, Work[P]] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._tied: dict[int, Work[P]] = {}
        self._over: deque[int] = deque()
        self._lock, self._salt = Lock(), uuid4().hex
        self._given: Any = given.run if isinstance(given, Hosted) else given
        self._one: Work[P] | None = None
        if isinstance(given, Hosted):
            self._one = Work(given, made(given))
        elif isinstance(given, CallsOnce):
            hosted = host.on(given)
            self._one = Work(hosted, made(hosted))
        elif not isinstance(given, Shielding):
            raise TypeError(
                f"`{host.name}` is given a `{type(given).__name__}` to judge with: give it the "
                f"shield (`Shield.load(...)`), or a run of it"
            )

    def at(self, key: str, agent: str = "") -> P:
        """What works for a thread or session, by the framework's own name for it."""
        return self._keep(key, agent).made

    def tied(self, to: object, agent: str = "") -> P:
        """What works for an object that the framework makes once for an invocation. When that is
        gone, its run is closed by whoever comes next."""
        around = self._at_work()
        if around is not None:
            return self._child(around, id(to), to, agent).made
        if self._one is not None:
            return self._one.made
        with self._lock:
            over = [self._tied.pop(self._over.popleft()) for _ in range(len(self._over))]
        for one in over:  # first, to make room where a broker bounds how many are open
            one.hosted.close()
        with self._lock:
            work = self._tied.get(id(to))
            if work is None:
                work = self._tied[id(to)] = self._begun(agent)
                finalize(to, self._over.append, id(to)).atexit = False
        return work.made

    def during(self, agent: str = "", key: str = "") -> Invocation[P]:
        """What works for one invocation, by `with` or `async with`. Its run is closed at the end,
        or kept for the thread or session that `key` names.

        Not for the body of a generator: between its items its caller would seem to be at work.
        """
        return Invocation(self, agent, key)

    @contextmanager
    def inside(self, made: P, hosted: Hosted) -> Iterator[None]:
        """Have what works for a thread or an object be at work in this context: while it runs a
        tool, what begins there is its child."""
        runs, at_work = (
            hosted.run._around,
            AtWork(self._host.name, self._given, self, hosted, made, {}),
        )
        try:
            with (
                setting(_AT_WORK, (*_AT_WORK.get(), at_work)),
                setting(runs, (*runs.get(), hosted.run)),
            ):
                yield
        finally:
            for _, child in list(at_work.children.values()):
                child.hosted.close()

    @property
    def around(self) -> P | None:
        """What is at work in this context, where something is."""
        at_work = self._at_work()
        return None if at_work is None else at_work.made

    @property
    def now(self) -> P:
        """What is at work in this context; raises `Ungoverned` where nothing is."""
        at_work = self._at_work()
        if at_work is None:
            raise Ungoverned(
                f"nothing of `{self._host.name}` is at work here: run it by the guarded agent"
            )
        made: P = at_work.made
        return made

    def begin(self, agent: str, key: str) -> Work[P]:
        """Begin an invocation, which ends with `end`."""
        around = self._at_work()
        if key:
            return self._keep(key, agent, 1)
        return self._one if self._one is not None and around is None else self._begun(agent, around)

    def end(self, work: Work[P]) -> Hosted | None:
        """End an invocation; gives what is to be closed now."""
        if work is self._one:
            return None
        with self._lock:
            work.using -= 1
        return None if work.kept else work.hosted

    def _keep(self, key: str, agent: str, using: int = 0) -> Work[P]:
        around, worn = self._at_work(), None
        if around is not None:
            return self._child(around, key, None, agent)
        if self._one is not None:
            return self._one
        with self._lock:
            work = self._kept.get(key)
            if work is None:
                work = self._kept[key] = self._begun(agent, key=key)
                work.kept = True
            self._kept.move_to_end(key)
            work.using += using
            if len(self._kept) > (
                MOST if isinstance(self._given, Shield) else MOST_THROUGH_A_BROKER
            ):
                unused = [at for at, one in self._kept.items() if not one.using and one is not work]
                worn = (unused[0], self._kept.pop(unused[0])) if unused else None
        if worn is not None:
            worn[1].hosted.close()
            if getattr(worn[1].hosted.run, "was_over", False):
                self._ended[worn[0]] = None
                if len(self._ended) > MOST_ENDED:
                    self._ended.popitem(last=False)
        return work

    def _child(self, around: AtWork, key: str | int, to: object, agent: str) -> Work[P]:
        """What works for a thread or an object within what is at work, which closes it."""
        with self._lock:
            known = around.children.get((self, key))
            if known is None:
                known = around.children[self, key] = (to, self._begun(agent, around))
                known[1].kept = True
        return known[1]

    def _begun(self, agent: str, around: AtWork | None = None, key: str = "") -> Work[P]:
        within = around is not None and around.works is self  # what its user says is the outer one
        named = self._agent if self._agent and not (within and agent) else agent
        if around is None:
            again: dict[str, Any] = {}
            if key and isinstance(self._given, Shield):  # a broker names its runs itself
                salted = f"{self._salt}{key}".encode("utf-8", "surrogatepass")
                again = {"id": f"run-{sha256(salted).hexdigest()[:32]}"}
            hosted = self._host.run(self._given, named, self._task, **again)
        else:
            hosted = around.hosted.child(named)
        if key in self._ended:
            hosted.run.cancel("it had ended before")
        return Work(hosted, self._make(hosted))

    def _at_work(self) -> AtWork | None:
        """What of the same adapter is at work in this context, for the same shield or run."""
        for one in reversed(_AT_WORK.get()):
            if one.adapter == self._host.name and one.given is self._given:
                return one
        return None


class Invocation(Generic[P]):
    """One invocation while it lasts; what works for it is at work in the context."""

    def __init__(self, works: Works[P], agent: str, key: str) -> None:
        self._works, self._agent, self._key = works, agent, key
        self._stack = ExitStack()

    def __enter__(self) -> P:
        self._work = self._works.begin(self._agent, self._key)
        self._stack.enter_context(self._works.inside(self._work.made, self._work.hosted))
        return self._work.made

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
        over = self._works.end(self._work)
        if over is not None:
            over.close()

    async def __aenter__(self) -> P:
        return self.__enter__()

    async def __aexit__(self, *_error: object) -> None:
        self._stack.close()
        over = self._works.end(self._work)
        if over is not None:
            await over.aclose()
