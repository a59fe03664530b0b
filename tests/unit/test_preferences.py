"""What is chosen for all users is kept, seen by every process, and keys stay where they belong."""

import json
import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring import backend
from keyring.backends import fail, null
from pydantic import SecretStr

from rag import errors
from rag.config import Config
from rag.engine.models import apply_preferences
from rag.store.preferences import Preferences
from rag.types import KeyPlace
from tests import keyrings

KEY = "sk-correct-horse-battery-staple"
SETTING = "openai_api_key"


@pytest.fixture
def ring() -> Iterator[keyrings.MemoryKeyring]:
    ring = keyrings.MemoryKeyring()
    with keyrings.using(ring):
        yield ring


def no_ring() -> backend.KeyringBackend:
    kind: type[backend.KeyringBackend] = fail.Keyring
    return kind()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def everything(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.iterdir() if path.is_file())


def test_no_file_is_written_and_no_key_ring_opened_without_a_setting(
    tmp_path: Path, ring: keyrings.MemoryKeyring
) -> None:
    assert Preferences(tmp_path / "data").get().choices == {}
    assert not (tmp_path / "data").exists()
    assert ring.asked == 0


def test_settings_persist_and_reach_other_processes(tmp_path: Path) -> None:
    here, there = Preferences(tmp_path), Preferences(tmp_path)
    assert there.get().choices == {}
    here.choose("rag_gen_model", "ollama:llama3.2")
    assert here.get().dismissed == frozenset()
    here.dismiss("models")
    assert here.get().dismissed == {"models"}
    assert there.get().choices == {"rag_gen_model": "ollama:llama3.2"}
    assert there.get().dismissed == {"models"}
    there.choose("rag_gen_model", None)
    assert here.get().choices == {}
    assert here.get().dismissed == {"models"}


def test_what_has_not_changed_is_not_read_again(tmp_path: Path, ring: keyrings.MemoryKeyring) -> None:
    preferences = Preferences(tmp_path)
    preferences.put_key(SETTING, SecretStr(KEY))
    first, asked = preferences.get(), ring.asked
    assert preferences.get() is first
    assert ring.asked == asked


def test_a_key_goes_into_the_key_ring_and_into_no_file(tmp_path: Path, ring: keyrings.MemoryKeyring) -> None:
    assert Preferences(tmp_path).put_key(SETTING, SecretStr(KEY)) is KeyPlace.KEY_RING
    kept = Preferences(tmp_path).get()
    assert kept.secrets[SETTING].get_secret_value() == KEY
    assert kept.keys == {SETTING: KeyPlace.KEY_RING}
    assert KEY not in everything(tmp_path)
    assert KEY not in repr(kept)
    Preferences(tmp_path).remove_key(SETTING)
    assert ring.kept == {}
    assert Preferences(tmp_path).get().keys == {}


def test_each_data_folder_has_keys_of_its_own(tmp_path: Path, ring: keyrings.MemoryKeyring) -> None:
    Preferences(tmp_path / "a").put_key(SETTING, SecretStr(KEY))
    Preferences(tmp_path / "b").put_key(SETTING, SecretStr("another-key"))
    assert Preferences(tmp_path / "a").get().secrets[SETTING].get_secret_value() == KEY
    assert len(ring.kept) == 2


@pytest.mark.parametrize("kind", [fail.Keyring, null.Keyring])
def test_without_a_key_ring_the_key_is_in_a_file_for_its_owner_alone(
    tmp_path: Path, kind: type[backend.KeyringBackend]
) -> None:
    with keyrings.using(kind()):
        preferences = Preferences(tmp_path)
        assert preferences.put_key(SETTING, SecretStr(KEY)) is KeyPlace.FILE
        assert mode(tmp_path / "keys.json") == 0o600
        assert Preferences(tmp_path).get().secrets[SETTING].get_secret_value() == KEY
        assert KEY not in (tmp_path / "settings.json").read_text()
        preferences.put_key("gemini_api_key", SecretStr("another-key"))
        preferences.remove_key(SETTING)
        assert json.loads((tmp_path / "keys.json").read_text()) == {"gemini_api_key": "another-key"}
        assert mode(tmp_path / "keys.json") == 0o600
        preferences.remove_key("gemini_api_key")
        assert not (tmp_path / "keys.json").exists()


def test_a_key_that_moves_into_the_key_ring_leaves_the_file(tmp_path: Path) -> None:
    with keyrings.using(no_ring()):
        Preferences(tmp_path).put_key(SETTING, SecretStr(KEY))
    with keyrings.using(keyrings.MemoryKeyring()):
        Preferences(tmp_path).put_key(SETTING, SecretStr("another-key"))
        assert not (tmp_path / "keys.json").exists()
        assert Preferences(tmp_path).get().secrets[SETTING].get_secret_value() == "another-key"


def test_a_key_ring_that_forgets_at_once_is_none(tmp_path: Path) -> None:
    class Forgetful(keyrings.MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            pass

    with keyrings.using(Forgetful()):
        assert Preferences(tmp_path).put_key(SETTING, SecretStr(KEY)) is KeyPlace.FILE


def test_a_key_ring_that_its_library_does_not_recommend_is_not_used(tmp_path: Path) -> None:
    class Plaintext(keyrings.MemoryKeyring):
        priority = 0

    ring = Plaintext()
    with keyrings.using(ring):
        assert Preferences(tmp_path).put_key(SETTING, SecretStr(KEY)) is KeyPlace.FILE
    assert ring.kept == {}


def test_a_locked_key_ring_is_told_from_none(
    tmp_path: Path, ring: keyrings.MemoryKeyring, caplog: pytest.LogCaptureFixture
) -> None:
    preferences = Preferences(tmp_path)
    preferences.put_key(SETTING, SecretStr(KEY))
    ring.locked = True
    with caplog.at_level(logging.WARNING):
        kept = Preferences(tmp_path).get()
    assert (kept.keys, dict(kept.secrets)) == ({SETTING: KeyPlace.KEY_RING}, {})
    assert "OPENAI_API_KEY" in caplog.text
    assert KEY not in caplog.text


def test_a_key_that_cannot_be_removed_is_still_known(tmp_path: Path) -> None:
    class Stubborn(keyrings.MemoryKeyring):
        def delete_password(self, service: str, username: str) -> None:
            self.locked = True
            super().delete_password(service, username)

    with keyrings.using(Stubborn()):
        preferences = Preferences(tmp_path)
        preferences.put_key(SETTING, SecretStr(KEY))
        with pytest.raises(errors.StoreError, match="key ring"):
            preferences.remove_key(SETTING)
        assert preferences.get().keys == {SETTING: KeyPlace.KEY_RING}


def test_the_environment_wins_over_what_is_kept(tmp_path: Path) -> None:
    preferences = Preferences(tmp_path)
    preferences.choose("rag_gen_model", "ollama:llama3.2")
    preferences.choose("no_such_setting", "x")
    preferences.put_key(SETTING, SecretStr(KEY))
    kept = preferences.get()
    alone = apply_preferences(Config(), kept)
    assert (alone.rag_gen_model, alone.openai_api_key) == ("ollama:llama3.2", SecretStr(KEY))
    both = apply_preferences(Config(rag_gen_model="openai", openai_api_key=SecretStr("mine")), kept)
    assert (both.rag_gen_model, both.openai_api_key) == ("openai", SecretStr("mine"))


@pytest.mark.parametrize("content", ["{", "[]", '{"choices": {"rag_gen_model": 5}}', '{"keys": {"x": "moon"}}'])
def test_a_damaged_file_says_so(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(errors.ConfigError, match=r"settings\.json is damaged"):
        Preferences(tmp_path).get()


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file in the place of the folder")
    with pytest.raises(errors.StoreError, match="Check its folder"):
        Preferences(tmp_path / "data").choose("rag_gen_model", "extractive")


WRITE = """
import sys
from pathlib import Path
from rag.store.preferences import Preferences
preferences = Preferences(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(50):
    preferences.choose(f"{sys.argv[2]}{number}", "x")
"""


def test_concurrent_settings_of_two_processes_are_both_kept(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, tmp_path, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(Preferences(tmp_path).get().choices) == 100
