"""Staying: whether what a call is given runs or is written where the agent works, so that nothing
may be taken out of it, and whether it could get to others from there."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.actions import Action
from stanchion.kernel.declared import effect_of
from stanchion.kernel.events import ToolCall
from stanchion.kernel.sizes import ReadLimits
from stanchion.readings.commands.shapes import Text
from stanchion.readings.names import plain
from stanchion.readings.paths.targets import targets_in
from stanchion.readings.programs import program_effects
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import HOSTS, Command
from stanchion.readings.shell.destinations import destinations
from stanchion.readings.shell.options import LANGUAGES, NO_FILES, codes_in
from stanchion.readings.urls import UrlTarget, is_here, url_of
from stanchion.readings.word_lists import listed

HANDS_ON: Final = listed(
    """
    attach commit deploy export gist issue publish pull push release share submit sync transfer
    upload
    """
)
"""Words in the name of a tool that hands on what it is given, though it may speak of files."""
EDITING: Final = listed(
    """
    append apply based code copy create cut edit editor glob grep insert ls multi notebook patch
    replace rg ripgrep save str string text tool touch view write
    """
)
"""Words of the name of a tool that edits or searches files and is named by nothing else."""
SAID_WHERE: Final = listed(
    """
    archive bucket bucketname containerid containername deviceid host hostname machine owner pod
    podname remotehost server sshhost vm vmid zipfile
    """
)
"""Names of arguments that say which machine, bucket or archive something is in."""
TALKS: Final = HOSTS | listed(
    """
    aws az gcloud gsutil bq doctl heroku fly flyctl vercel netlify wrangler firebase supabase gh
    glab hub jira tea linear slack slackcat telegram-send signal-cli ntfy mail mailx mutt sendmail
    msmtp swaks llm ollama claude gemini aider sgpt mods chatgpt codex scp rsync rclone s3cmd restic
    httpie grpcurl websocat xh aria2c kubectl helm op vault bw
    """
)
"""Programs that hand what they are given to somebody on another machine."""
PUSHES: Final = {
    "git": listed("push send-email request-pull send-pack"),
    **dict.fromkeys(("docker", "podman", "nerdctl"), listed("push login")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "cargo", "poetry", "twine"), listed("publish upload")),
}
"""Programs that do so by their first word."""


def redaction(reading: Any) -> Action:
    """What taking a part out of an event amounts to. A command, code and a file without a part of
    it do something else: what runs or is written here stays as it is, and what runs and reaches
    others besides waits for a person."""
    event = reading.event
    if type(event) is not ToolCall:
        return Action.REDACT
    effect, act = effect_of(event.traits), reading.act
    if act.runs or reading.commands:
        held, limits = reading.commands, reading.reader.limits
        here = held and effect != "outward" and not any(_reaches(one.text, limits) for one in held)
        return Action.WARN if here else Action.ESCALATE
    if effect and effect != "read":
        return Action.WARN if effect == "local" else Action.REDACT
    return Action.WARN if _is_written_here(reading) else Action.REDACT


def _is_written_here(reading: Any) -> bool:
    """Whether a tool is surely for files of this machine: by its name, or because it speaks of
    nothing else than editing and is given a path."""
    act, event = reading.act, reading.event
    if act.web or act.api or act.says or not HANDS_ON.isdisjoint(act.words):
        return False
    if act.elsewhere or not SAID_WHERE.isdisjoint([plain(str(name)) for name in event.args]):
        return False
    return act.of_files or (
        act.words <= EDITING and any(one.sure for one in reading.of(targets_in))
    )


def _reaches(text: Text, limits: ReadLimits) -> bool:
    """Whether what runs may hand something to another machine."""
    if any(not known or _is_remote(url) for url, known in destinations(text, limits)):
        return True
    return any(_talks(command) for command in analysed(text, limits).commands)


def _talks(command: Command) -> bool:
    name = command.name
    if name in TALKS:
        hosts = [word for word in command.argv[1:] if "://" in word]
        return not hosts or any(_is_remote(url) for url in hosts)
    if name in PUSHES:
        return not PUSHES[name].isdisjoint(command.operands[:1])
    language = LANGUAGES.get(name)
    if language is None:
        return False
    codes = codes_in(command.argv, command.given, language, NO_FILES)
    sent = [one.host for code in codes for one in program_effects(name, code).sends]
    return any(_is_remote(host) for host in sent)


def _is_remote(url: str) -> bool:
    target = url_of(url)
    return not (isinstance(target, UrlTarget) and target.host and is_here(target.host))
