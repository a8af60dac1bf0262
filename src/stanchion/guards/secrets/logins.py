"""What goes ahead though it is a secret, and is only kept out of records: a login has to get to
where it is for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from stanchion.kernel.events import Event, ModelCall, Prompt, ToolCall
from stanchion.readings import Reading
from stanchion.readings.cover import Cover
from stanchion.readings.texts import TextLeaf, TextSpan
from stanchion.readings.word_lists import by_first

HOSTS: Final = by_first(
    """
    anthropic anthropic.com
    cloudflare cloudflare.com
    digitalocean digitalocean.com
    github github.com ghcr.io
    gitlab gitlab.com
    huggingface huggingface.co
    linear linear.app
    mailgun mailgun.net
    notion notion.com
    npm npmjs.org npmjs.com
    openai openai.com
    postman getpostman.com
    pypi pypi.org
    sendgrid sendgrid.com
    sentry sentry.io
    slack slack.com
    stripe stripe.com
    twilio twilio.com
    """
)
"""The first word of a maker's kinds, and the domains that its documentation tells clients to
call."""


def at_home(kind: str, hosts: tuple[str, ...]) -> bool:
    """Whether all these hosts belong to the maker of a kind of credential."""
    own = HOSTS.get(kind.partition("-")[0], ())
    return bool(hosts) and all(
        any(host == one or host.endswith(f".{one}") for one in own) for host in hosts
    )


Spans = list[list[TextSpan]]

OF_A_HOST: Final = frozenset({"database-url", "jdbc-password", "oracle-connect-password"})
"""Kinds that are no maker's: what they sign in to stands beside them."""


def parted(
    reading: Reading[Event], leaves: Sequence[TextLeaf], spans: Spans, told: Collection[str]
) -> tuple[Spans, Spans]:
    """What was found, without logins that go ahead, and these. Kinds that are `told` are known by
    how they are introduced alone: the user may say them, and a call may sign in with them. A token
    of a known maker is one, whoever says it, and signs in at that maker's hosts only."""
    rest: Spans = []
    own: Spans = []
    for leaf, here in zip(leaves, spans, strict=True):
        theirs = _logins(reading, leaf, here, told) if here else []
        left = frozenset(here).difference(theirs)
        rest.append([span for span in here if span in left])
        own.append(theirs)
    return rest, own


def _logins(
    reading: Reading[Event], leaf: TextLeaf, here: list[TextSpan], told: Collection[str]
) -> list[TextSpan]:
    """What of a text goes ahead."""
    event = reading.event
    if isinstance(event, ToolCall):
        return _signing_in(reading, leaf, here, told)
    return [span for span in here if span.kind in told] if _theirs(event, leaf) else []


def _signing_in(
    reading: Reading[Event], leaf: TextLeaf, here: list[TextSpan], told: Collection[str]
) -> list[TextSpan]:
    """What a call signs in with. What several rules find in one place has to be a login by all of
    them."""
    from stanchion.readings.signing_in import login_hosts

    found: list[TextSpan] = []
    others: list[tuple[int, int]] = []
    places = [(span.start, span.end) for span in here]
    for span, hosts in zip(here, login_hosts(reading, leaf, places), strict=True):
        if hosts is not None and (
            span.kind in told or span.kind in OF_A_HOST or at_home(span.kind, hosts)
        ):
            found.append(span)
        else:
            others.append((span.start, span.end))
    cover = Cover(others)
    return [span for span in found if not cover.touches(span.start, span.end)]


def _theirs(event: Event, leaf: TextLeaf) -> bool:
    """Whether a text is the user's own words: those of a prompt, or in a request to a model."""
    match event:
        case Prompt(trusted=trusted):
            return trusted
        case ModelCall(messages=messages):
            return _role(messages, leaf) == "user"
        case _:
            return False


def _role(messages: Sequence[Any], leaf: TextLeaf) -> str:
    """Whose message a text of a request is in."""
    place = next((step for step in leaf.path if isinstance(step, int)), None)
    message = messages[place] if place is not None and place < len(messages) else None
    return str(message.get("role", "")) if isinstance(message, dict) else ""
