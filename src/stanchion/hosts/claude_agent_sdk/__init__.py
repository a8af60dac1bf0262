"""Claude Agent SDK: options whose sessions are judged by hooks in this process."""

from stanchion.hosts.claude_agent_sdk.options import CLAUDE_AGENT_SDK, canary, guarded

__all__ = ["CLAUDE_AGENT_SDK", "canary", "guarded"]
