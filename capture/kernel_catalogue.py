"""What there is to say about the kernels that ship: their sentence, their arguments, their defaults."""

import inspect
from dataclasses import dataclass

from .kernel_files import shipped_kernel
from .kernels import SHIPPED_KERNELS
from .launch_arguments import LaunchArgument, bind_arguments


@dataclass(frozen=True, slots=True)
class KernelDescription:
    """A shipped kernel. `details` is its launch function's docstring: what each argument means."""

    name: str
    summary: str
    arguments: dict[str, LaunchArgument]
    details: str


def shipped_kernels() -> list[KernelDescription]:
    """Every kernel that ships, in the table's order."""
    return [describe(name) for name in SHIPPED_KERNELS]


def describe(name: str) -> KernelDescription:
    """The shipped kernel of that name. Raises ConfigError where there is none."""
    kernel = shipped_kernel(name)
    arguments = bind_arguments(kernel.launch, {}, name)
    details = inspect.getdoc(kernel.launch) or ""
    return KernelDescription(name, SHIPPED_KERNELS[name].summary, arguments, details)
