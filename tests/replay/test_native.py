"""What is compiled is refused where its sources are others than those it was compiled from."""

import shutil
from pathlib import Path

import pytest
from kerntape.replay import (
    engine,
    engine_layout,
    native,
    order_layout,
    order_pass,
    slack_pass,
)
from kerntape.schemas.errors import KerntapeError

MODULES = {
    "engine": engine,
    "engine_layout": engine_layout,
    "order_layout": order_layout,
    "order_pass": order_pass,
    "slack_pass": slack_pass,
}

OF_ALL = ("engine_records.py", "engine_records.pxd")


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A folder in which the sources are looked for, with all of them."""
    for source in Path(native.__file__).parent.glob("*.p*"):
        shutil.copy(source, tmp_path)
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    return tmp_path


@pytest.fixture(params=MODULES)
def name(request):
    if not native.is_compiled(MODULES[request.param]):
        pytest.skip("it runs uncompiled here")
    return request.param


def refusal(name):
    with pytest.raises(KerntapeError) as caught:
        native.refuse_stale(MODULES[name])
    return str(caught.value)


def sources_of(name):
    return (f"{name}.py", f"{name}.pxd", *OF_ALL)


def test_the_sources_that_it_was_compiled_from_are_right(beside, name):
    native.refuse_stale(MODULES[name])


def test_each_of_them_that_changed_is_noticed(beside, name):
    for source in sources_of(name):
        path = beside / source
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        assert refusal(name) == (
            f"{name}.py, {name}.pxd, engine_records.py or engine_records.pxd in replay/ changed since"
            f" {name} was compiled; run 'pip install -e .' again"
        )
        path.write_bytes(before)


def test_each_of_them_that_is_gone_is_noticed(beside, name):
    for source in sources_of(name):
        path = beside / source
        before = path.read_bytes()
        path.unlink()
        assert "changed since" in refusal(name)
        path.write_bytes(before)


def test_where_there_are_no_sources_there_is_nothing_to_compare(beside, name):
    for source in sources_of(name):
        (beside / source).unlink()
    native.refuse_stale(MODULES[name])
