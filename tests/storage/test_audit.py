from __future__ import annotations

import time

from storage.storage import Storage


def test_the_audit_log_is_read_newest_first_and_forgets_what_is_old(storage: Storage) -> None:
    for target in ("/a", "/b"):
        storage.audit.add(actor="key:ci", address="::1", action="x", target=target, status=201)
    assert [entry.target for entry in storage.audit.page().items] == ["/b", "/a"]
    assert storage.audit.forget(time.time() - 60.0) == 0
    assert storage.audit.forget(time.time() + 60.0) == 2
    assert storage.audit.page().items == []
