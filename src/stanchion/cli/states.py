"""The states of a tenant, an agent, a tool or a run, and of the store: halted, isolated, in safe
mode, accepted."""

from __future__ import annotations

from typing import Final

from stanchion import Shield
from stanchion.cli.answerers import (
    APPLIES,
    EXIT,
    SCOPES,
    WAYS,
    answered,
    answerer,
    loaded,
    operate,
)
from stanchion.cli.command import (
    ANSWERER,
    CHANGE,
    DOER,
    PROJECT,
    STORE,
    Args,
    BadInput,
    DeclaredCommand,
    lasting_s,
    option,
    scope,
)
from stanchion.cli.terminal import tell
from stanchion.cli.whose import told
from stanchion.ops.views.veiled import veiled


def halt(args: Args) -> int:
    """Halt it."""
    return operate(args, lambda shield, by: shield.halt(args.why, args.tenant, args.scope, by))


STATE_HALT_COMMAND: Final = DeclaredCommand(
    usage="stanchion state halt [SCOPE] [--why WORDS] [--by NAME] [--tenant NAME] [--store URL]",
    description="""\
Stop everything: every further action of an agent is refused. Running calls may finish, but
their results are not handed to the agent. Only `stanchion state resume` ends a halt.""",
    epilog="""\
examples:
  stanchion state halt --why 'money is going out that nobody ordered'
  stanchion state halt run:run-4f0c22a1
  stanchion state halt fleet

"""
    + SCOPES
    + """

"""
    + EXIT,
    options=(
        scope("act on"),
        *CHANGE,
    ),
    work=halt,
)


def resume(args: Args) -> int:
    """Resume it."""
    return operate(
        args, lambda shield, by: shield.resume(args.tenant, args.scope, by, args.why), loosens=True
    )


STATE_RESUME_COMMAND: Final = DeclaredCommand(
    usage="""stanchion state resume [SCOPE] [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]
       [--store URL]""",
    description="""\
Put something back to normal, whatever state it is in: halted, in safe mode, in quarantine,
or watched because it failed too often. Other scopes stay as they are.""",
    epilog="""\
examples:
  stanchion state resume
  stanchion state resume tool:send_mail

"""
    + SCOPES
    + """

"""
    + WAYS
    + """

"""
    + EXIT,
    options=(
        scope("act on"),
        *CHANGE,
        ANSWERER,
    ),
    work=resume,
)


def quarantine(args: Args) -> int:
    """Isolate it."""
    return operate(
        args,
        lambda shield, by: shield.quarantine(args.scope, args.for_s, args.why, args.tenant, by),
    )


STATE_QUARANTINE_COMMAND: Final = DeclaredCommand(
    usage="""stanchion state quarantine SCOPE [--for TIME] [--why WORDS] [--by NAME]
       [--tenant NAME] [--store URL]""",
    description="""\
Isolate a tool, an agent or a run: everything it does or is asked to do is refused, and all
others continue. It ends by itself; `stanchion state resume SCOPE` ends it earlier.""",
    epilog="""\
examples:
  stanchion state quarantine tool:send_mail --for 15m --why 'it leaks addresses'
  stanchion state quarantine agent:writer-1

"""
    + APPLIES
    + """

"""
    + EXIT,
    options=(
        option("scope SCOPE", "`tool:NAME`, `agent:NAME` or `run:ID`"),
        option(
            "--for TIME",
            "how long: 90s, 15m, 2h, 1d (default: 5m)",
            dest="for_s",
            type=lasting_s,
            default=300.0,
        ),
        *CHANGE,
    ),
    work=quarantine,
)


def safe_mode(args: Args) -> int:
    """Switch it."""
    on = args.what == "on"
    return operate(
        args,
        lambda shield, by: shield.safe_mode(on, args.why, args.tenant, args.scope, by),
        loosens=not on,
    )


STATE_SAFE_MODE_COMMAND: Final = DeclaredCommand(
    usage="""stanchion state safe-mode on|off [SCOPE] [--why WORDS] [--by NAME] [--tenant NAME]
       [--store URL]""",
    description="""\
Switch safe mode on or off: no tool runs and nothing is retried, while models still answer
and requests still leave. Nothing leaves safe mode by itself.""",
    epilog="""\
examples:
  stanchion state safe-mode on --why 'the mail server is being moved'
  stanchion state safe-mode on agent:writer-1
  stanchion state safe-mode off

"""
    + SCOPES
    + """

Only an operator may switch it off.
"""
    + WAYS
    + """

"""
    + EXIT,
    options=(
        option("what on|off", "switch it on or off", choices=("on", "off")),
        scope("put into safe mode"),
        *CHANGE,
        ANSWERER,
    ),
    work=safe_mode,
)


def unlock(args: Args) -> int:
    """Break the locks of a name, as an operator, and say so."""
    return answered(_unlock, args)


def _unlock(args: Args, shield: Shield) -> int:
    if not shield.break_lock(args.name, args.tenant, args.why, answerer(args, shield)):
        raise BadInput(
            f"nobody has locked `{veiled(args.name)}`: `stanchion state locks` shows what is locked"
        )
    tell(f"{veiled(args.name)} is free{veiled(told(args))}")
    return 0


STATE_UNLOCK_COMMAND: Final = DeclaredCommand(
    usage="stanchion state unlock NAME [--why WORDS] [--key FILE | --ssh-agent] [--tenant NAME]",
    description="""\
Release what an agent has locked under a name. `stanchion state locks` shows what is locked,
and by whom.""",
    epilog="""\
examples:
  stanchion state unlock src/login.py --why 'bob is on holiday'

exit status:
  0  it is free
  1  it is not: you are not allowed to
  2  nobody has locked that, or the store cannot be used""",
    options=(option("name NAME", "what is locked"), *CHANGE, ANSWERER),
    work=unlock,
)


def accept(args: Args) -> int:
    """Accept it."""
    with loaded(args) as shield:
        unused = shield.accept_store(args.why, restored=args.restored, by=answerer(args, shield))
    taken = (
        f"; {unused} unused approvals are withdrawn"
        if unused != 1
        else "; 1 unused approval is withdrawn"
    )
    how = f"restored: every process continues with it{taken}"
    tell(f"the store is {how if args.restored else 'accepted: every process continues with it'}")
    return 0


STATE_ACCEPT_COMMAND: Final = DeclaredCommand(
    usage="stanchion state accept [--restored] --why WORDS [--by NAME] [--store URL]",
    description="""\
Confirm that a store may be used although it lost its contents: it was emptied or replaced,
or, with --restored, restored from a backup. Until then everything except reads is refused
with kernel.store_forgot. Unused approvals in a backup are withdrawn, because they may have
been used since the backup was made.""",
    epilog="""\
examples:
  stanchion state accept --why 'the test server was flushed on purpose'
  stanchion state accept --restored --why 'disk failure, backup of 03:00'

Look first (`stanchion state`): halts, quarantines, allowances and budgets are now as the
store has them. Repeat any halt that must stay. Every process that uses the store continues
with its next decision. The store is the project's (`stanchion state --where`), or the one
that STANCHION_STORE names; it is written to the trail.

exit status:
  0  it is done
  2  not done: the store cannot be used""",
    options=(
        option("--restored", "it is as a backup had it"),
        option("--why WORDS", "the reason, for the trail", required=True),
        DOER,
        STORE,
        PROJECT,
        ANSWERER,
    ),
    work=accept,
)
