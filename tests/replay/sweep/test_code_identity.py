"""Two clones of one version are told apart by their sources."""

from importlib.metadata import version

from kerntape.replay.sweep import plan as plan_module
from kerntape.replay.sweep.code_identity import _sources_sha256, code_identity


def test_it_is_the_version_and_some_digits_of_a_hash():
    stated, _, digits = code_identity().partition(" ")
    assert stated == version("kerntape")
    assert len(digits) == len("(123456789abc)")


def test_the_hash_changes_with_any_source_and_any_name_and_with_nothing_else(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.py").write_text("x = 1")
    before = _sources_sha256([tmp_path])
    (tmp_path / "a.pyc").write_text("compiled")
    assert _sources_sha256([tmp_path]) == before
    (tmp_path / "inside" / "a.py").write_text("x = 2")
    changed = _sources_sha256([tmp_path])
    (tmp_path / "inside" / "a.py").rename(tmp_path / "inside" / "b.py")
    assert len({before, changed, _sources_sha256([tmp_path])}) == 3


def test_a_sweep_that_another_kerntape_began_is_another_sweep(plan_of, shorter, monkeypatch):
    ours = plan_of(shorter).sha256
    monkeypatch.setattr(plan_module, "code_identity", lambda: "0.1.0 (another)")
    assert plan_of(shorter).sha256 != ours
