from pathlib import Path
from typing import NoReturn

import pytest

from searchspace.errors import InvalidInput
from service.settings import Settings
from storage.artifacts import Artifacts


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HAMTUNE_UPLOAD_LIMIT", "much"),
        ("HAMTUNE_KEEP_DELETED", "soon"),
        ("HAMTUNE_KEEP_DELETED", "-1d"),
        ("HAMTUNE_KEEP_DELETED", "36501d"),
        ("HAMTUNE_UPLOAD_LIMIT", "0"),
        ("HAMTUNE_CONCURRENCY", "0"),
        ("HAMTUNE_CONCURRENCY", "two"),
        ("HAMTUNE_CONCURRENCY", "²"),
    ],
)
def test_an_unusable_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings.from_environment({name: value})
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("value", "days"), [("", 30), ("0", 0), ("7d", 7), ("48h", 2), ("36500d", 36500)]
)
def test_deleted_jobs_are_kept_for_a_time(value: str, days: int) -> None:
    settings = Settings.from_environment({"HAMTUNE_KEEP_DELETED": value})
    assert settings.keep_deleted == days * 86400.0


def test_everything_lies_under_the_data_directory_by_default(tmp_path: Path) -> None:
    settings = Settings.under(tmp_path)
    assert settings.embedded
    assert settings.database_url == f"sqlite:///{tmp_path}/hamtune.db"
    assert settings.artifacts_url == f"file://{tmp_path}/artifacts"
    assert settings.upload_limit == 512 * 2**20


def test_without_a_home_directory_one_for_data_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> NoReturn:
        raise KeyError(uid)

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(InvalidInput, match="no home directory") as caught:
        Settings.from_environment({})
    assert caught.value.field == "HAMTUNE_DATA"
    assert Settings.from_environment({}, data=tmp_path).data == tmp_path


def test_a_data_directory_may_have_any_name(tmp_path: Path) -> None:
    data = tmp_path / "josé's data 100%"
    data.mkdir()
    settings = Settings.under(data)
    artifacts = Artifacts(settings.artifacts_url)
    digest = artifacts.put(b"a trace")
    assert artifacts.path(digest).is_relative_to(data / "artifacts")


def test_urls_of_the_environment_win_and_a_broker_ends_the_embedded_mode() -> None:
    settings = Settings.from_environment(
        {
            "HAMTUNE_DATA": "/srv/hamtune",
            "HAMTUNE_DATABASE_URL": "postgresql+psycopg://db/hamtune",
            "HAMTUNE_BROKER_URL": "redis://broker/0",
            "HAMTUNE_ARTIFACTS_URL": "s3://traces",
            "HAMTUNE_UPLOAD_LIMIT": "2GiB",
            "HAMTUNE_CONCURRENCY": "3",
        }
    )
    assert settings == Settings(
        data=Path("/srv/hamtune"),
        database_url="postgresql+psycopg://db/hamtune",
        broker_url="redis://broker/0",
        artifacts_url="s3://traces",
        upload_limit=2 * 2**30,
        concurrency=3,
    )
    assert not settings.embedded


def test_the_data_directory_asked_for_wins_over_the_environment(tmp_path: Path) -> None:
    assert Settings.from_environment({"HAMTUNE_DATA": "/srv"}, data=tmp_path).data == tmp_path
