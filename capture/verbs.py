"""What the four parts of tl have in common: the PE they act on, and how a handle is checked."""

from ..schemas.errors import KernelError
from ..schemas.handles import Space
from .handles import TensorHandle
from .pe import Pe
from .tensors import InHbm


class Verbs:
    """A part of tl."""

    def __init__(self, pe: Pe) -> None:
        self._pe = pe

    def _own(self, handle: object, what: str) -> TensorHandle:
        """The handle. Raises KernelError where it is none, or not this PE's to use."""
        if isinstance(handle, InHbm):
            raise KernelError(f"{what}: must be given a handle, not {handle.described}; tl.load it")
        if not isinstance(handle, TensorHandle):
            raise KernelError(f"{what}: must be given a handle, not {type(handle).__name__}")
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
