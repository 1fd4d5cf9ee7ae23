"""`kerntape kernels`: the kernels that ship, or one of them with its arguments and their defaults."""

import argparse
from typing import TYPE_CHECKING

from .printing import aligned, between_words, print_json, terminal_columns

if TYPE_CHECKING:
    from ..capture.kernel_catalogue import KernelDescription

SUMMARY = "list the kernels that ship, or one with its arguments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """NAME is a shipped kernel."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="a shipped kernel's name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the list, or one kernel. Raises ConfigError where NAME is not one."""
    from ..capture.kernel_catalogue import describe, shipped_kernels

    if arguments.name is not None:
        kernel = describe(arguments.name)
        if arguments.json:
            print_json(kernel_json(kernel))
        else:
            print(kernel_text(kernel))
        return 0
    kernels = shipped_kernels()
    if arguments.json:
        print_json({"kernels": [kernel_json(kernel) for kernel in kernels]})
    else:
        columns = terminal_columns()
        print("\n\n".join(listed_text(kernel, columns) for kernel in kernels))
    return 0


def kernel_json(kernel: "KernelDescription") -> dict[str, object]:
    """name, summary, arguments {name: default}; null is worked out (the text shows what it is)."""
    return {
        "name": kernel.name,
        "summary": kernel.summary,
        "arguments": kernel.arguments,
    }


def listed_text(kernel: "KernelDescription", columns: int | None = None) -> str:
    """The kernel's entry in the list: its sentence, its arguments with their defaults. No line is wider
    than `columns`.
    """
    defaults = " ".join(f"{name}={text}" for name, text in kernel.shown.items())
    lines = (f"{kernel.name}  {kernel.summary}", f"  {defaults}")
    return "\n".join(between_words(line, columns, "    ") for line in lines)


def kernel_text(kernel: "KernelDescription") -> str:
    """The kernel in full: its sentence, what its launch function says, the defaults as a table."""
    table = aligned([["argument", "default"], *map(list, kernel.shown.items())])
    return f"{kernel.name}: {kernel.summary}\n\n{kernel.details}\n\n{table}"
