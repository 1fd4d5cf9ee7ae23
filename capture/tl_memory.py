"""tl's memory: HBM references, loads and stores, new TCM, scratch scopes, and views.

`out=`, `dtype=` and `name=` as everywhere; a dtype is 'f16', 'bf16', 'f32', 'i32' or 'bool'.
"""

from contextlib import AbstractContextManager
from typing import TypeAlias

from ..schemas.commands import CommandForm, CommandKind, OpForm
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from .arguments import DTypeLike, Number, ShapeLike, as_dtype, as_extents, as_number, as_shape
from .handles import TensorHandle
from .tensors import HbmPointer, HbmTensor, located
from .verbs import Verbs
from .views import broadcast, reshaped, transposed

Target: TypeAlias = HbmTensor | HbmPointer

LOAD = CommandForm(CommandKind.LOAD, (OpForm("load", ("src",), has_out=True),))
STORE = CommandForm(CommandKind.STORE, (OpForm("store", ("src",), has_out=True),))


class MemoryVerbs(Verbs):
    """The memory part of tl."""

    def ref(self, tensor: Target, shape: ShapeLike | None = None) -> TensorHandle:
        """A reference into HBM, for a composite to stream from or write to. No command."""
        return self._reference(tensor, shape, "tl.ref")

    def load(
        self, tensor: Target, shape: ShapeLike | None = None, *, name: str = ""
    ) -> TensorHandle:
        """Starts a load from HBM into new TCM and returns at once; its first reader waits for it."""
        source = self._reference(tensor, shape, "tl.load")
        site = self._pe.site()
        label = name or site.assigned or source.label
        target = self._pe.allocate(source.shape, source.dtype, label)
        command = self._pe.issue(LOAD, (source, target), (), site)
        self._pe.transfer_runs_on(command, target)
        if self._pe.data is not None:
            self._pe.data.copy(source, target)
        return target

    def store(self, tensor: Target, value: TensorHandle) -> None:
        """Writes a handle to HBM and waits until it is there. Shapes and dtypes must be equal."""
        self._in_tcm(value, "tl.store")
        shape = value.shape if isinstance(tensor, HbmPointer) else None
        target = self._reference(tensor, shape, "tl.store")
        if (target.shape, target.dtype) != (value.shape, value.dtype):
            remedy = "; tl.cast it" if target.shape == value.shape else ""
            raise KernelError(
                f"tl.store: the value must be as its target {target.described},"
                f" not {value.described}{remedy}"
            )
        self._pe.issue(STORE, (value, target), (value,), self._pe.site())
        if self._pe.data is not None:
            self._pe.data.copy(value, target)

    def _reference(self, tensor: Target, shape: ShapeLike | None, what: str) -> TensorHandle:
        extents = None if shape is None else as_shape(shape, what)
        view = located(tensor, extents, what)
        view.check_not_empty(what)
        return self._pe.reference(view)

    def empty(
        self, shape: ShapeLike, dtype: DTypeLike = DType.F32, *, name: str = ""
    ) -> TensorHandle:
        """TCM that nobody has written yet. No command."""
        label = name or self._pe.site().assigned or "empty"
        return self._pe.allocate(as_shape(shape, "tl.empty"), as_dtype(dtype, "tl.empty"), label)

    def full(
        self, shape: ShapeLike, value: Number, dtype: DTypeLike = DType.F32, *, name: str = ""
    ) -> TensorHandle:
        """TCM filled with one number."""
        return self._filled("full", shape, value, dtype, name)

    def zeros(
        self, shape: ShapeLike, dtype: DTypeLike = DType.F32, *, name: str = ""
    ) -> TensorHandle:
        """TCM filled with zeros."""
        return self._filled("zeros", shape, 0, dtype, name)

    def _filled(
        self, verb: str, shape: ShapeLike, value: Number, dtype: DTypeLike, name: str
    ) -> TensorHandle:
        what = f"tl.{verb}"
        stored, number = as_dtype(dtype, what), as_number(value, f"{what}: the value")
        if stored in (DType.I32, DType.BOOL) and number != number // 1:
            raise KernelError(f"{what}: the value of {stored} must be whole, not {number}")
        label = name or self._pe.site().assigned or verb
        out = self._pe.allocate(as_shape(shape, what), stored, label)
        return self._pe.math("fill", (), (("value", number),), out)

    def arange(self, start: int, end: int | None = None, *, name: str = "") -> TensorHandle:
        """start, start + 1, … end − 1 as i32 [end − start]; with one argument from 0 up to it."""
        first, last = (0, start) if end is None else (start, end)
        scalars = tuple(
            (which, as_number(bound, f"tl.arange: {which}"))
            for which, bound in (("start", first), ("end", last))
        )
        return self._pe.math("arange", (), scalars, name=name, scratch=False)

    def scratch_scope(self, slots: int = 1) -> AbstractContextManager[None]:
        """Gives back what is made inside when it ends; visits rotate through `slots` regions."""
        if not isinstance(slots, int) or slots < 1:
            raise KernelError(
                f"tl.scratch_scope: slots must be an int of at least 1, not {slots!r}"
            )
        return self._pe.scope(slots)

    def view(self, src: TensorHandle, shape: ShapeLike) -> TensorHandle:
        """The same contiguous bytes in another shape; one extent may be −1. No command."""
        return self._reshaped("tl.view", src, shape)

    def reshape(self, src: TensorHandle, shape: ShapeLike) -> TensorHandle:
        """As view."""
        return self._reshaped("tl.reshape", src, shape)

    def _reshaped(self, verb: str, src: TensorHandle, shape: ShapeLike) -> TensorHandle:
        what = f"{verb}: {self._own(src, verb).described}"
        extents = as_extents(shape, verb)
        return self._pe.view_of(src, reshaped(src.whole, extents, src.dtype.size_bytes, what))

    def trans(self, src: TensorHandle) -> TensorHandle:
        """The last two axes exchanged: a strided view, so a real transpose. No command."""
        what = f"tl.trans: {self._own(src, 'tl.trans').described}"
        return self._pe.view_of(src, transposed(src.whole, what))

    def broadcast(self, src: TensorHandle, shape: ShapeLike) -> TensorHandle:
        """Repeated to a shape as NumPy broadcasts: a view with stride 0. No command."""
        what = f"tl.broadcast: {self._own(src, 'tl.broadcast').described}"
        return self._pe.view_of(src, broadcast(src.whole, as_shape(shape, "tl.broadcast"), what))
