"""The tests in C++ where all of it checks its own memory and arithmetic.

    .venv/bin/python -m deploy.sanitize

Builds them with the sanitizers for addresses and undefined behaviour in build/sanitize, and runs
them. A mistake ends the test that makes it, with where it was made. Needs `./setup.sh --test`.
"""

from __future__ import annotations

import sys

from deploy import instrumented


def main() -> int:
    """Build and run."""
    copy = instrumented.copy_sources("sanitize")
    environment = {**instrumented.environment(), "UBSAN_OPTIONS": "print_stacktrace=1"}
    instrumented.build(
        copy, ["-DHAMTUNE_SANITIZE=ON"], environment, ["kernel-tests", "simulator-tests"]
    )
    native = ["ctest", "--test-dir", "build", "--output-on-failure", "--no-tests=error"]
    return 0 if instrumented.holds(copy, native, environment) else 1


if __name__ == "__main__":
    sys.exit(main())
