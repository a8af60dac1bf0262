"""Replies of real SDKs. They run where the SDKs are installed: `make test-sdks` makes such an
environment."""
