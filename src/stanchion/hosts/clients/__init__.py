"""Clients of model providers: what the adapters for `openai` and `anthropic` share. Both SDKs are
made alike."""
