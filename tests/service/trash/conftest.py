"""The service that asks for keys, for those who read its metrics."""

from tests.service.auth.conftest import guard, guarded

__all__ = ["guard", "guarded"]
