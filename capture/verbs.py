"""What the four parts of tl have in common: the PE they act on, and how a handle is checked."""

from ..schemas.errors import KernelError
from ..schemas.handles import Space
from .arguments import not_a_handle
from .handles import TensorHandle
from .pe import Pe


class Verbs:
    """A part of tl."""

    def __init__(self, pe: Pe) -> None:
        self._pe = pe

    def _own(self, handle: object, what: str) -> TensorHandle:
        """The handle. Raises KernelError where it is none, or not this PE's to use."""
        if not isinstance(handle, TensorHandle):
            raise not_a_handle(f"{what}: must be given", handle)
        self._pe.check_usable(handle)
        return handle

    def _in_tcm(self, handle: object, what: str) -> TensorHandle:
        """The handle. Raises KernelError where it is a reference into HBM, too."""
        owned = self._own(handle, what)
        if owned.space is not Space.TCM:
            raise KernelError(
                f"{what}: {owned.described} must be in TCM, not a reference into HBM; tl.load it"
            )
        return owned
