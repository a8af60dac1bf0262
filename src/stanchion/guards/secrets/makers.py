"""Makers: at which hosts the credentials of a known maker are at home."""

from __future__ import annotations

from typing import Final

HOSTS: Final[dict[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic.com",),
    "cloudflare": ("cloudflare.com",),
    "digitalocean": ("digitalocean.com",),
    "github": ("github.com", "ghcr.io"),
    "gitlab": ("gitlab.com",),
    "huggingface": ("huggingface.co",),
    "linear": ("linear.app",),
    "mailgun": ("mailgun.net",),
    "notion": ("notion.com",),
    "npm": ("npmjs.org", "npmjs.com"),
    "openai": ("openai.com",),
    "postman": ("getpostman.com",),
    "pypi": ("pypi.org",),
    "sendgrid": ("sendgrid.com",),
    "sentry": ("sentry.io",),
    "slack": ("slack.com",),
    "stripe": ("stripe.com",),
    "twilio": ("twilio.com",),
}
"""The first word of a maker's kinds, and the domains that its documentation tells clients to
call."""


def at_home(kind: str, hosts: tuple[str, ...]) -> bool:
    """Whether all these hosts belong to the maker of a kind of credential."""
    own = HOSTS.get(kind.partition("-")[0], ())
    return bool(hosts) and all(
        any(host == one or host.endswith(f".{one}") for one in own) for host in hosts
    )
