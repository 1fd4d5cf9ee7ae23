"""What there is to say about the kernels that ship: their sentence, their arguments, their defaults."""

import inspect
from dataclasses import dataclass

from .kernel_files import shipped_kernel
from .kernels import SHIPPED_KERNELS
from .launch_arguments import LaunchArgument, bind_arguments, default_text, launch_parameters


@dataclass(frozen=True, slots=True)
class KernelDescription:
    """A shipped kernel. `arguments` are the defaults, `shown` their texts for a person; `details` is
    its launch function's docstring: what each argument means.
    """

    name: str
    summary: str
    arguments: dict[str, LaunchArgument]
    shown: dict[str, str]
    details: str


def shipped_kernels() -> list[KernelDescription]:
    """Every kernel that ships, in the table's order."""
    return [describe(name) for name in SHIPPED_KERNELS]


def describe(name: str) -> KernelDescription:
    """The shipped kernel of that name. Raises ConfigError where there is none."""
    kernel = shipped_kernel(name)
    arguments = bind_arguments(kernel.launch, {}, name)
    parameters = launch_parameters(kernel.launch, name)
    return KernelDescription(
        name=name,
        summary=SHIPPED_KERNELS[name].summary,
        arguments=arguments,
        shown={each.name: default_text(each) for each in parameters.values()},
        details=inspect.getdoc(kernel.launch) or "",
    )
