"""The tools of the scripted agent: harmless, and each remembers what really reached it."""

from __future__ import annotations

from typing import Any, Final

NOTES: Final = "Ask Ada about the login page."
HANGS_S: Final = 1.0
"""How long `crawl` takes where no deadline ends it."""


class Tools:
    """What the agent can call. `reached` keeps the arguments of every call that got through, in order."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[str] = []

    def read_notes(self, page: int) -> str:
        """The agent's own notes."""
        return self._ran("read_notes", NOTES, page=page)

    def read_payroll(self, month: str) -> str:
        """Everybody's pay."""
        return self._ran("read_payroll", "a table", month=month)

    def drop_table(self, name: str) -> str:
        """Throw a table away."""
        return self._ran("drop_table", "gone", name=name)

    def search(self, query: str) -> str:
        """Look something up."""
        return self._ran("search", "nothing found", query=query)

    def save_note(self, text: str) -> str:
        """Keep a note."""
        return self._ran("save_note", "kept", text=text)

    def login(self, user: str, password: str) -> str:
        """Open a session."""
        return self._ran("login", "welcome", user=user, password=password)

    def pay(self, to: str, euros: int) -> str:
        """Send money."""
        return self._ran("pay", "paid", to=to, euros=euros)

    def send_mail(self, to: str, text: str) -> str:
        """Send a mail."""
        return self._ran("send_mail", "sent", to=to, text=text)

    def publish(self, page: str) -> str:
        """Put a page on the website."""
        return self._ran("publish", "published", page=page)

    async def crawl(self, site: str) -> str:
        """Follow every link of a site: it takes far too long."""
        import asyncio

        self._ran("crawl", "", site=site)
        try:
            await asyncio.sleep(HANGS_S)
        except asyncio.CancelledError:
            self.cancelled.append("crawl")
            raise
        return "every page of the site"

    def _ran(self, tool: str, result: str, **args: Any) -> str:
        self.reached.append((tool, args))
        return result


def answer(messages: list[Any]) -> str:
    """The scripted model: it says the same whatever it is asked."""
    return "I will report and wait."
