"""Calls: what a piece of code calls, with what is known of the arguments; the same for every
language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.word_lists import listed

LONGEST: Final = 65_536
"""Longer code is not read."""
MANY: Final = 512
"""How many calls of one piece of code are kept."""
UNKNOWN: Final = "$"
"""What stands for a part of a text that is not known."""
VARIABLES: Final = listed(
    "environ process.env ENV _ENV %ENV Deno.env.toObject Environ process_environment"
)
"""How languages name all variables of the environment."""
ENVIRONMENT: Final = VARIABLES | {"document.cookie", "localStorage", "sessionStorage"}
"""Those, and what a page keeps of who uses it."""
ONE_VARIABLE: Final = "environ[]"
"""What stands for a single one of them."""
FAKES: Final = listed(
    "fakeredis FakeRedis FakeStrictRedis mongomock fake Mock MagicMock AsyncMock create_autospec "
    "MongoMemoryServer mockClient PostgresContainer MySqlContainer MongoDbContainer RedisContainer "
    "KafkaContainer LocalStackContainer GenericContainer DockerContainer"
)
"""What makes things of which nothing outlives the code."""


def known_parts(texts: Iterable[str | None]) -> list[str]:
    """Texts, with what stands for those that are not known."""
    return [UNKNOWN if each is None else each for each in texts]


class CodeCall(NamedTuple):
    """One call: its name without what it is called on, that as it is written (`os`, `fs.promises`)
    and what is known of its value, the arguments (a list's items one by one; `None` where one is
    not known), and everything that its arguments are made of: names, calls and texts, those of
    variables included; arguments that are given by name; and what it is called on is made of."""

    name: str
    of: str
    on: str | None
    args: tuple[str | None, ...]
    made_of: frozenset[str]
    named: tuple[tuple[str, str | None], ...] = ()
    behind: frozenset[str] = frozenset()

    @property
    def owner(self) -> str:
        """The last name of what it is called on."""
        return self.of.rpartition(".")[2]

    def is_of(self, names: frozenset[str]) -> bool:
        """Whether one of these names is in what it is called on."""
        return not names.isdisjoint(self.of.replace("::", ".").split("."))


class Code(NamedTuple):
    """What a piece of code calls, and whether it starts itself again in a loop."""

    calls: tuple[CodeCall, ...]
    forks: bool = False


NOTHING: Final = Code(())
