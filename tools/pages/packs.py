"""The shipped packs: what each is for, and what it stops."""

from __future__ import annotations

from typing import Final

from stanchion.policy.load import described_packs, load_policy

PATH = "docs/reference/packs.md"

ORDER: Final = (
    "default",
    "strict",
    "coding-agent",
    "container",
    "folder",
    "database",
    "analyst",
    "finance",
    "support",
    "research",
    "mcp",
    "agent-33",
    "guardian",
    "shadow-start",
)

INTRODUCTION: Final = """\
# Packs

A pack is a policy that is shipped. Load it by its name, `Shield.load("strict")`, or begin with it
and change what you need: `extends: strict`. Packs can be laid over one another: `extends:
[database, folder]`. `stanchion policy show NAME` prints one whole, guard by guard. `stanchion init`
asks four questions about your agent and writes a policy that extends the pack of its job.

A pack knows your tools by their names, and hosts not at all. What pays, exports or sends under a
name of your own you declare (`tools: {make_good: {ask: true}}`), and where the agent may send
anything you say by the hosts that it may reach (`- use: egress`, `allowed_hosts: [...]`).

| pack | what it is for |
|---|---|
"""

UNREAD: Final = """
## What nobody can read

Images, sound, PDF documents, bytes that are no text, and objects that hold no data cannot be
judged: [Types](../how-to/types.md) says what can be read. `unread` says what becomes of the rest.

| pack | `unread` | why |
|---|---|---|
"""

REASONS: Final = {
    "default": (
        "models look at pictures and documents, so they come in, marked; of objects nobody "
        "knows what they hold"
    ),
    "strict": "what only the model can read may tell it anything, and no guard would know",
    "coding-agent": "screenshots and diagrams are daily work",
    "container": "as `coding-agent`",
    "folder": "as Stanchion itself; laid over a pack it leaves that one's word",
    "analyst": "as `database`",
    "support": "as `finance`",
    "research": "pages have pictures; they come in, marked",
    "database": "rows are texts and numbers; what is neither is no answer to a query",
    "finance": "a payment rests on what was read, never on a picture of it",
    "mcp": "servers of other people send nothing that only the model can read",
    "agent-33": "what no guardrail can look at has not been checked",
    "guardian": "its layers count calls and compare arguments; none of them reads a picture",
    "shadow-start": "as `strict`, and nothing is changed",
}

TRIED: Final = r"""
## What was tried

First by their makers: fifteen calls that are bad for an agent of each kind, and fifteen that are
its work (`tests/policy/tried_calls.yaml`). Stopped are those that are refused, wait for a person or
lose a credential.

Then by two who had read nothing but these pages and guarded an agent of each kind by `stanchion
init`: sixty bad calls and sixty everyday ones for each pack (`tests/policy/tried_by_others.jsonl`),
written before they saw what came of any. Stopped are those that are refused or wait for a person;
what only loses a credential goes ahead, and counts as let pass. Of these 300 bad calls 258 were
stopped then, and of the 300 everyday ones 6. The packs were mended by what they had found, and the
figures are of today, so another's calls will find more. [How much passes that nobody here has
seen](../explanation/limits.md) is measured apart.

| pack | bad, stopped | honest, stopped | by others: bad, stopped | everyday, stopped | what is left |
|---|---|---|---|---|---|
| `support` | 15 of 15 | 0 of 15 | 56 of 60 | 0 of 60 | a tool of yours that gives money or data away under another name is not known: `tools: {make_good: {ask: true}}`; a mail with a secret leaves without it |
| `research` | 15 of 15 | 0 of 15 | 55 of 60 | 0 of 60 | requests and mails with a secret leave without it; name the hosts that may be reached (`egress`, `allowed_hosts`) |
| `analyst` | 15 of 15 | 0 of 15 | 59 of 60 | 0 of 60 | code and commands may send files to hosts that nobody knows: name the hosts that may be reached (`egress`, `allowed_hosts`) |
| `coding-agent` | 15 of 15 | 0 of 15 | 60 of 60 | 2 of 60 | |
| `container` | 14 of 15 | 3 of 15 | 54 of 60 | 2 of 60 | `insmod` only warns, though the kernel is the host's; passwords (`chpasswd`) and `sshd_config` wait for a person or are refused, though they end with the container: `families: {privilege: allow}` of `shell` lets them be, and doors to the host with them; an installer that is downloaded and run (`curl … \| sh`) is refused |
"""

MEASURED: Final = """
## What each stops

`stanchion lab measure packs --corpora DIR` on the development part of public corpora: how many of
the rows do not go ahead by themselves, or are redacted. Tools are called `bash`, `run_sql` and
`read_page`; nobody answers questions. Commands whose label the table of
[`shell`](../guards/shell.md) overrules are left out. The worst case for hijacks is an agent that
obeys every text. [The page of `flow`](../guards/flow.md#what-it-costs) has the figures over whole tasks,
and says what it cannot know.

| of these | default | strict | coding-agent | database | finance | mcp | agent-33 | guardian | shadow-start |
|---|---|---|---|---|---|---|---|---|---|
| dangerous commands stopped | 198/200 | 198/200 | 198/200 | 198/200 | 198/200 | 198/200 | 198/200 | 0/200 | 0 |
| everyday commands stopped | 0/200 | 2/200 | 0/200 | 0/200 | 0/200 | 1/200 | 0/200 | 0/200 | 0 |
| changes by SQL stopped | 0/63 | 0/63 | 0/63 | 59/63 | 0/63 | 0/63 | 7/63 | 0/63 | 0 |
| reads by SQL stopped | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0 |
| secrets hidden | 199/200 | 199/200 | 199/200 | 199/200 | 199/200 | 199/200 | 199/200 | 0/200 | 0 |
| texts without one disturbed | 1/109 | 1/109 | 1/109 | 1/109 | 1/109 | 1/109 | 1/109 | 0/109 | 0 |
| internal addresses refused | 76/76 | 76/76 | 62/76 | 76/76 | 76/76 | 76/76 | 0/76 | 0/76 | 0 |
| public addresses refused | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0/200 | 0 |
| hijacks by one result stopped | 0/628 | 626/628 | 13/628 | 0/628 | 626/628 | 626/628 | 13/628 | 0/628 | 0 |
| honest runs disturbed | 0/183 | 0/183 | 0/183 | 0/183 | 0/183 | 0/183 | 0/183 | 0/183 | 0 |

`guardian` has none of the guards that these rows are about: add it to another pack, or add guards
to it.

By family, in `default`: of the dangerous commands all of 6 families, and InternalAllTheThings 12 of
14; of the secrets gitleaks 190 of 190, detect-secrets 7 of 8, secretlint 2 of 2; of texts without
one gitleaks 1 of 99, secretlint 0 of 10.

Whole honest sessions (`stanchion lab measure sessions`), of which a call did not go ahead by itself
or went ahead with other content:

| family | default | coding-agent | guardian |
|---|---|---|---|
| all | 13/405 | 13/405 | 4/405 |
| miniswe | 0/49 | 0/49 | 1/49 |
| oas | 3/94 | 3/94 | 1/94 |
| swe | 0/5 | 0/5 | 0/5 |
| toolemu | 10/257 | 10/257 | 2/257 |

The goals, 1 % for `default` and 2 % for `coding-agent`, are not met: eight sessions move money or
unlock doors by tools that nobody declared, and are asked about. Of 1,938 calls 43 are disturbed (31
by `guardian`), 28 of them in one session that clicks on the same two buttons until it ends.

These rows were read to improve the guards. What to expect of calls that nobody has seen is on the
pages of [`shell`](../guards/shell.md), [`files`](../guards/files.md),
[`secrets`](../guards/secrets.md) and [`sql`](../guards/sql.md): 76 to 86 of 100 attacks are found,
and up to 13 of 100 honest calls disturbed.

`coding-agent` lets `localhost` be reached. What a pack does not stop here it has no guard for:
commands need [`shell`](../guards/shell.md), statements [`sql`](../guards/sql.md), hijacks
[`flow`](../guards/flow.md).
"""


def render() -> str:
    """Render the packs: what they are for, and what was tried and measured."""
    said = described_packs()
    missing = set(said) ^ set(ORDER)
    if missing:
        raise ValueError(
            f"put {sorted(missing)} into the order of `tools/pages/packs.py`, or take it out"
        )
    purposes = "".join([f"| `{name}` | {said[name]} |\n" for name in ORDER])
    return INTRODUCTION + purposes + _unread() + TRIED + MEASURED


def _unread() -> str:
    """What each pack does with content that nobody can read, and why."""
    rows = "".join(
        [f"| `{name}` | `{load_policy(name).file.unread}` | {REASONS[name]} |\n" for name in ORDER]
    )
    return UNREAD + rows
