"""Telemetry: what operators see of a shield at work. It watches decisions and never changes one."""
