"""Finds a kernel's launch function, by a shipped kernel's name or in a user's file.

A user's file is executed with its folder importable, so that it can import the modules beside it.
When the capture is over nothing of that is left: not in sys.path, not in sys.modules, and no
__pycache__ in the user's folder.
"""

import importlib
import linecache
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from ..schemas.errors import (
    ConfigError,
    KernelError,
    KernelRaisedError,
    KerntapeError,
    did_you_mean,
    nearest,
)
from .failures import kernel_traceback
from .kernels import SHIPPED_KERNELS
from .names import source_line
from .runtime import Runtime
from .wrong_calls import wrong_call

Launch = Callable[..., object]
DEFAULT_FUNCTION = "launch"
FILE_CLOSENESS = 0.7
"""Files of a folder may have any names: only a slip of the pen is worth mentioning."""


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A launch function and the file it is from. `name` is without a machine's path."""

    name: str
    launch: Launch
    file: Path
    is_shipped: bool = False

    def running(self, what: str) -> AbstractContextManager[None]:
        """Around what may run the file's own code: `users_code`, unless that is kerntape's own."""
        return nullcontext() if self.is_shipped else users_code(what, self.file)

    def source_hashes(self, line_files: Iterable[str]) -> dict[str, str]:
        """SHA-256 by file name: the kernel's file, the modules beside it that a user's file imported,
        and those files beside it that the trace's source lines are from (`line_files`).

        A module in a package beside it goes by its path from the kernel's folder.
        """
        folder = self.file.parent
        named = {folder / name for name in line_files}
        files = {self.file, *_neighbours(folder).values(), *filter(Path.is_file, named)}
        return {
            file.relative_to(folder).as_posix(): sha256(file.read_bytes()).hexdigest()
            for file in sorted(files)
        }


@contextmanager
def loaded_kernel(kernel: str) -> Iterator[LoadedKernel]:
    """The kernel of that name, or of `file.py` or `file.py:function`, importable while in use.

    Raises ConfigError where there is no such kernel, file or function; KernelRaisedError where
    the file itself raises.
    """
    if not _names_a_file(kernel):
        yield shipped_kernel(kernel)
        return
    file_name, function = _file_and_function(kernel)
    file = _existing_file(file_name)
    with _folder_importable(file.parent):
        module = _execute(file)
        yield LoadedKernel(
            f"{file.name}:{function}", _function_of(module, function, file.name), file
        )


def shipped_kernel(kernel: str) -> LoadedKernel:
    """The kernel that ships under that name. Raises ConfigError where there is none."""
    if kernel not in SHIPPED_KERNELS:
        raise ConfigError(
            f"no kernel '{kernel}'{did_you_mean(kernel, SHIPPED_KERNELS)}"
            " (a kernel of your own is named by its file: my_kernel.py:launch)"
        )
    module = importlib.import_module(SHIPPED_KERNELS[kernel].module, __package__)
    return LoadedKernel(kernel, module.launch, Path(str(module.__file__)), is_shipped=True)


@contextmanager
def users_code(what: str, file: Path) -> Iterator[None]:
    """Runs code of a user's file. Whatever it raises becomes KernelRaisedError with its traceback;
    kerntape's own errors end with the line of the file that asked for it.
    """
    try:
        yield
    except (ConfigError, KernelError) as error:
        raise type(error)(f"{error}{_at(file, error)}") from None
    except KerntapeError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a user's code may raise anything
        if isinstance(error, TypeError) and (wrong := wrong_call(error, Runtime)):
            raise ConfigError(f"{wrong}{_at(file, error)}") from None
        summary = traceback.format_exception_only(error)[-1].strip()
        said = f"{what} raised {summary}{_where_unread(error) or _at(file, error)}"
        raise KernelRaisedError(said, kernel_traceback(error)) from None


def _at(file: Path, error: BaseException) -> str:
    """The end of a message: the innermost line of the file that the error passed through, if it did."""
    steps = traceback.walk_tb(error.__traceback__)
    lines = [(frame, line) for frame, line in steps if frame.f_code.co_filename == str(file)]
    if not lines:
        return ""
    frame, number = lines[-1]
    return f" ({source_line(frame.f_code, number, number)})"


def _where_unread(error: BaseException) -> str:
    """The place of a syntax error, which may be in a file beside the kernel's."""
    if not isinstance(error, SyntaxError) or not error.filename:
        return ""
    return f" ({Path(error.filename).name}:{error.lineno})"


def _names_a_file(kernel: str) -> bool:
    return ".py" in kernel or "/" in kernel


def _file_and_function(kernel: str) -> tuple[str, str]:
    file_name, colon, function = kernel.rpartition(":")
    return (file_name, function) if colon else (kernel, DEFAULT_FUNCTION)


def _existing_file(file_name: str) -> Path:
    file = Path(file_name).resolve()
    if not file.parent.is_dir():
        raise ConfigError(f"{file_name}: there is no folder '{Path(file_name).parent}'")
    if file.exists() and not file.is_file():
        raise ConfigError(f"{file_name}: a kernel must be a file of Python, and this is none")
    if not file.exists():
        stems = sorted(beside.stem for beside in file.parent.glob("*.py"))
        near = nearest(file.stem, stems, FILE_CLOSENESS)
        hint = f"; did you mean '{near}.py'?" if near else ""
        raise ConfigError(f"{file_name}: no such file{hint}")
    return file


def _function_of(module: ModuleType, name: str, file_name: str) -> Launch:
    if name in vars(module):
        function = vars(module)[name]
        if not callable(function):
            raise ConfigError(f"{file_name}:{name} must be a function, not {function!r}")
        launch: Launch = function
        return launch
    own = [
        known
        for known, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    raise ConfigError(f"{file_name} has no function '{name}'{did_you_mean(name, own)}")


def _execute(file: Path) -> ModuleType:
    """The user's file as a module, read and compiled afresh: never a stale one from a cache."""
    linecache.checkcache()
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file.name}: cannot be read: {error.strerror or error}") from None
    with users_code(file.name, file):
        code = compile(source, str(file), "exec")
        sys.modules.setdefault(file.stem, module)  # dataclasses look their module up there
        exec(code, vars(module))
    return module


@contextmanager
def _folder_importable(folder: Path) -> Iterator[None]:
    importlib.invalidate_caches()
    loaded_before = set(sys.modules)
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_bytecode
        with suppress(ValueError):  # the user's code may have taken it out already
            sys.path.remove(str(folder))
        for name in _neighbours(folder).keys() - loaded_before:
            del sys.modules[name]


def _neighbours(folder: Path) -> dict[str, Path]:
    """The files of the loaded modules that were found in the folder itself, by module name.

    A module of an environment that merely lies below the folder is not one of them: its top
    package is not the folder's own entry.
    """
    found = {}
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if file is None or not Path(file).is_relative_to(folder):
            continue
        entry = Path(file).relative_to(folder).parts[0]
        if entry.partition(".")[0] == name.partition(".")[0]:
            found[name] = Path(file)
    return found
