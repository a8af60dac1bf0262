"""The page of a ticket, in plain HTML: the danger first, and a no that takes one press."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import Final

from stanchion.approvals.questions import DANGERS
from stanchion.approvals.ticket import Kind, State, Ticket
from stanchion.kernel.shown import visible
from stanchion.ops.views.people import TicketView
from stanchion.ops.views.ticket_rows import LAID_OUT, covered, headline, ticket_rows

STYLE: Final = """
:root{color-scheme:light dark;--ink:#1a1f27;--dim:#5a6472;--line:#d8dde4;--back:#f3f5f8;--card:#fff;
--bad:#a61b1b;--badback:#fdecec;--good:#1d5c37}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--dim:#9aa5b3;--line:#363e49;--back:#14171c;
--card:#1d2229;--bad:#ff9a9a;--badback:#3a1f22;--good:#8ad8a8}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
main{max-width:44rem;margin:0 auto;padding:1rem}
header{display:flex;justify-content:space-between;gap:1rem;color:var(--dim);font-size:.85rem;
padding:0 .15rem .6rem}
.state{font-weight:700;text-transform:uppercase;letter-spacing:.05em}
section,details{background:var(--card);border:1px solid var(--line);border-radius:12px;
padding:1rem;margin-bottom:1rem}
h1{font-size:1.25rem;line-height:1.35;margin:0}
.danger{color:var(--bad);background:var(--badback);border-radius:8px;padding:.5rem .75rem;
margin:0 0 .75rem;font-weight:600}
dl{margin:0}
dt{color:var(--dim);font-size:.8rem;margin-top:.75rem}
dd{margin:0}
pre{margin:.15rem 0 0;font:.9rem/1.45 ui-monospace,monospace;white-space:pre-wrap;
background:var(--back);border-radius:8px;padding:.6rem .75rem}
.danger::first-letter,h1::first-letter,.note::first-letter{text-transform:uppercase}
summary{color:var(--dim);cursor:pointer;padding:.25rem 0}
label{display:block;margin:.25rem 0 .75rem}
input[type=text]{display:block;width:100%;font:inherit;color:inherit;background:var(--back);
border:1px solid var(--line);border-radius:8px;padding:.7rem;margin-top:.25rem}
label.read{display:flex;gap:.6rem;align-items:flex-start}
input[type=checkbox]{flex:none;width:1.35rem;height:1.35rem;margin:.1rem 0 0}
button{display:block;width:100%;font:inherit;font-weight:600;border-radius:10px;padding:.85rem;
cursor:pointer}
.no{background:var(--bad);border:1px solid var(--bad);color:var(--card)}
.yes{background:none;border:1px solid var(--line);color:var(--good)}
.note{color:var(--dim);font-size:.85rem;margin:.75rem 0 0}
"""
SECURITY: Final = (
    "Content-Type: text/html; charset=utf-8",
    "Content-Security-Policy: default-src 'none'; form-action 'self'; frame-ancestors 'none'; "
    f"base-uri 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
    "X-Frame-Options: DENY",
    "X-Robots-Tag: noindex",
    "Cross-Origin-Opener-Policy: same-origin",
)
"""The headers of every answer: no script runs, nothing is kept, framed or told to others."""
ASIDE: Final = frozenset(
    {"ticket", "run", "tenant", "policy", "digest", "opened", "guard", "kind", "asks", "beside"}
)
"""What nobody needs to decide; it stands below, folded."""


def ticket_page(ticket: Ticket, view: TicketView, now: int, form: str, why_not: str) -> str:
    """The page of an open ticket, with both answers; `why_not` says why a yes would not count
    here, and is empty where it would."""
    told = [one for one in ticket_rows(view, now) if one[0] not in ASIDE]
    aside = [one for one in ticket_rows(view, now) if one[0] in ASIDE]
    danger = "" if view.kind is Kind.VALUE else DANGERS.get(view.deed.effect, "")
    shown = [
        f"<section>{_line('p', danger, 'danger') if danger else ''}{_line('h1', headline(view))}",
        f"{_rows(told)}</section>",
        _no(form),
        _yes(form, ticket) if not why_not else f"<section>{_line('p', why_not)}</section>",
        f"<details><summary>More about it</summary>{_rows(aside)}</details>",
    ]
    return _page(headline(view), view.state, shown)


def words_page(words: str, state: str = "") -> str:
    """A page that says what has become of it, and asks nothing."""
    return _page(words, state, [f"<section>{_line('h1', words)}</section>"])


def _no(form: str) -> str:
    return (
        f'<section><form method="post">{_hidden(form, "no")}'
        "<label>Why not? The agent reads it."
        '<input type="text" name="why" maxlength="500" autocomplete="off" '
        'placeholder="not now"></label>'
        '<button class="no">No</button></form></section>'
    )


def _yes(form: str, ticket: Ticket) -> str:
    words = "Yes" if ticket.kind is Kind.VALUE else "Yes, this once"
    return (
        f'<section><form method="post">{_hidden(form, "yes")}'
        '<label class="read"><input type="checkbox" name="read" value="yes" required>'
        "I have read what would be done, and want it.</label>"
        f'<button class="yes">{words}</button></form>'
        f"{_line('p', covered(ticket, 'once'), 'note')}</section>"
    )


def _hidden(form: str, answer: str) -> str:
    pairs = {"form": form, "answer": answer}.items()
    return "".join(f'<input type="hidden" name="{name}" value="{_safe(v)}">' for name, v in pairs)


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    items = [
        f"{_line('dt', label)}<dd>{_line('pre' if label in LAID_OUT else 'div', words)}</dd>"
        for label, words in rows
    ]
    return f"<dl>{''.join(items)}</dl>"


def _line(tag: str, words: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<{tag}{named}>{_safe(words)}</{tag}>"


def _safe(words: str) -> str:
    """Words that an agent may have written, as text and nothing else: what would not be seen is
    written out, and what HTML would read is escaped."""
    return escape(visible(words, lines=True))


def _page(title: str, state: State | str, parts: Iterable[str]) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_safe(title[:80])}</title><style>{STYLE}</style></head><body><main>"
        f'<header><span>Stanchion</span><span class="state">{_safe(str(state))}</span></header>'
        f"{''.join(parts)}</main></body></html>"
    )
