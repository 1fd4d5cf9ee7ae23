"""A kernel is found by name or file, and loading a user's file leaves nothing behind."""

import importlib
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from kerntape.capture.kernel_files import loaded_kernel, users_code
from kerntape.schemas.errors import ConfigError, KernelError, KernelRaisedError

KERNEL = """\
from dataclasses import dataclass

import schemas

@dataclass
class Shape:
    rows: int

def launch(rt, rows=4):
    return schemas.greet(Shape(rows).rows)
"""


@pytest.fixture
def user_folder(tmp_path: Path) -> Path:
    (tmp_path / "my_kernel.py").write_text(KERNEL)
    (tmp_path / "schemas.py").write_text("def greet(rows):\n    return f'{rows} rows'\n")
    return tmp_path


def refusal(kernel: str) -> str:
    with pytest.raises(ConfigError) as error, loaded_kernel(kernel):
        pass
    return str(error.value)


def test_a_shipped_kernel_is_found_by_its_name():
    with loaded_kernel("gqa_decode") as kernel:
        assert kernel.name == "gqa_decode"
        assert kernel.file.name == "gqa_decode.py"
        assert callable(kernel.launch)


def test_a_users_file_may_import_a_module_named_schemas_beside_it(user_folder: Path):
    with loaded_kernel(f"{user_folder}/my_kernel.py:launch") as kernel:
        assert kernel.launch(None) == "4 rows"


def test_the_function_is_launch_where_none_is_named(user_folder: Path):
    with loaded_kernel(f"{user_folder}/my_kernel.py") as kernel:
        assert kernel.name == "my_kernel.py:launch"


def test_a_path_relative_to_the_working_directory_is_found(
    user_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(user_folder)
    with loaded_kernel("my_kernel.py") as kernel:
        assert kernel.file == user_folder / "my_kernel.py"


def test_nothing_is_left_behind(user_folder: Path):
    modules, path = set(sys.modules), list(sys.path)
    with loaded_kernel(f"{user_folder}/my_kernel.py"):
        assert {"my_kernel", "schemas"} <= set(sys.modules)
    assert set(sys.modules) == modules
    assert sys.path == path
    assert sorted(file.name for file in user_folder.iterdir()) == ["my_kernel.py", "schemas.py"]


def test_a_module_that_was_there_before_stays(user_folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(user_folder)
    schemas = importlib.import_module("schemas")
    with loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    assert sys.modules.pop("schemas") is schemas


def test_nothing_is_left_behind_by_a_file_that_raises(user_folder: Path):
    (user_folder / "my_kernel.py").write_text("import schemas\nraise ValueError('no')\n")
    modules, path = set(sys.modules), list(sys.path)
    with pytest.raises(KernelRaisedError), loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    assert (set(sys.modules), sys.path) == (modules, path)


def test_a_file_that_changed_is_read_anew(user_folder: Path):
    with loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    (user_folder / "schemas.py").write_text("def greet(rows):\n    return f'{rows} lines'\n")
    with loaded_kernel(f"{user_folder}/my_kernel.py") as kernel:
        assert kernel.launch(None) == "4 lines"


def test_sources_are_the_kernels_file_and_the_modules_beside_it_without_a_path(user_folder: Path):
    with loaded_kernel(f"{user_folder}/my_kernel.py") as kernel:
        hashes = kernel.source_hashes([])
    assert list(hashes) == ["my_kernel.py", "schemas.py"]
    assert hashes["my_kernel.py"] == sha256(KERNEL.encode()).hexdigest()


def test_a_shipped_kernels_sources_include_the_files_its_commands_are_from():
    with loaded_kernel("gqa_decode") as kernel:
        assert list(kernel.source_hashes(["references.py", "elsewhere.py"])) == [
            "gqa_decode.py",
            "references.py",
        ]


def test_an_unknown_name_says_what_was_meant():
    assert refusal("gqa_decod") == (
        "no kernel 'gqa_decod'; did you mean 'gqa_decode'?"
        " (a kernel of your own is named by its file: my_kernel.py:launch)"
    )


def test_a_missing_file_says_what_was_meant(user_folder: Path):
    assert refusal(f"{user_folder}/my_kernal.py:launch") == (
        f"{user_folder}/my_kernal.py: no such file; did you mean 'my_kernel.py'?"
    )


def test_a_file_that_is_called_otherwise_was_not_meant(user_folder: Path):
    (user_folder / "figures.py").write_text("")
    assert refusal(f"{user_folder}/nofile.py") == f"{user_folder}/nofile.py: no such file"


def test_a_missing_folder_is_named():
    assert refusal("nowhere/my_kernel.py") == ("nowhere/my_kernel.py: there is no folder 'nowhere'")


def test_a_missing_function_says_what_was_meant(user_folder: Path):
    assert refusal(f"{user_folder}/my_kernel.py:lanch") == (
        "my_kernel.py has no function 'lanch'; did you mean 'launch'?"
    )


def test_a_name_that_is_no_function_says_what_it_must_be(user_folder: Path):
    (user_folder / "my_kernel.py").write_text("launch = 3\n")
    assert refusal(f"{user_folder}/my_kernel.py") == "my_kernel.py:launch must be a function, not 3"


def test_a_file_that_does_not_compile_shows_the_line(user_folder: Path):
    (user_folder / "my_kernel.py").write_text("def launch(rt:\n")
    with pytest.raises(KernelRaisedError) as error, loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    assert str(error.value) == (
        "my_kernel.py raised SyntaxError: '(' was never closed (my_kernel.py:1)"
    )
    assert 'my_kernel.py", line 1\n    def launch(rt:' in error.value.kernel_traceback


def test_a_file_beside_it_that_does_not_compile_is_named_with_its_line(user_folder: Path):
    (user_folder / "shapes.py").write_text("a = 1\nb = = 2\n")
    (user_folder / "my_kernel.py").write_text("import shapes\n")
    with pytest.raises(KernelRaisedError) as error, loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    assert str(error.value) == ("my_kernel.py raised SyntaxError: invalid syntax (shapes.py:2)")


def test_a_traceback_begins_in_the_users_file(user_folder: Path):
    (user_folder / "my_kernel.py").write_text("import schemas\nschemas.greet()\n")
    with pytest.raises(KernelRaisedError) as error, loaded_kernel(f"{user_folder}/my_kernel.py"):
        pass
    assert error.value.kernel_traceback.splitlines()[:2] == [
        "Traceback (most recent call last):",
        f'  File "{user_folder}/my_kernel.py", line 2, in <module>',
    ]
    assert str(error.value) == (
        "my_kernel.py raised TypeError: greet() missing 1 required positional argument: 'rows'"
        " (my_kernel.py:2)"
    )


def test_a_user_file_that_exits_has_raised(tmp_path: Path):
    with pytest.raises(KernelRaisedError) as error, users_code("launch()", tmp_path / "k.py"):
        raise SystemExit(3)
    assert str(error.value) == "launch() raised SystemExit: 3"


def test_kerntapes_own_errors_pass_as_they_are(tmp_path: Path):
    with pytest.raises(KernelError) as error, users_code("launch()", tmp_path / "k.py"):
        raise KernelError("too large")
    assert str(error.value) == "too large"
