"""What a kernel handles stands for values that Python does not have: who asks for them is refused.

NumPy would else take a handle for a Python object and compute something that no command is recorded
for. Each message names the tl verb to use.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ..schemas.errors import KernelError, did_you_mean

NUMPY_VERBS = {
    "absolute": "tl.maximum(v, -v)",
    "add": "tl.add",
    "add.reduce": "tl.sum",
    "amax": "tl.max",
    "amin": "tl.min",
    "astype": "tl.cast",
    "broadcast_to": "tl.broadcast",
    "clip": "tl.minimum and tl.maximum",
    "copy": "tl.copy",
    "divide": "tl.div",
    "dot": "tl.dot",
    "empty_like": "tl.empty",
    "equal": "tl.eq",
    "exp": "tl.exp",
    "full_like": "tl.full",
    "greater": "tl.gt",
    "greater_equal": "tl.ge",
    "less": "tl.lt",
    "less_equal": "tl.le",
    "logical_and": "v & w",
    "logical_not": "~v",
    "logical_or": "v | w",
    "matmul": "tl.dot",
    "max": "tl.max",
    "maximum": "tl.maximum",
    "maximum.reduce": "tl.max",
    "mean": "tl.sum and tl.scale",
    "min": "tl.min",
    "minimum": "tl.minimum",
    "minimum.reduce": "tl.min",
    "multiply": "tl.mul",
    "negative": "tl.neg",
    "not_equal": "tl.ne",
    "power": "tl.mul(v, v)",
    "reshape": "tl.reshape",
    "sqrt": "tl.sqrt",
    "square": "tl.mul(v, v)",
    "subtract": "tl.sub",
    "sum": "tl.sum",
    "transpose": "tl.trans",
    "where": "tl.where",
    "zeros_like": "tl.zeros",
}
"""What to use instead of a NumPy function, by its own name, or a ufunc's method."""


class NoSuchMethodError(KernelError, AttributeError):
    """Nothing by that name; as an AttributeError it lets `hasattr` answer."""


class NoValues(ABC):
    """A handle, or a tensor in HBM. `OFFERED` are its attributes that are a kernel's to use,
    `BEFORE_VERBS` is what must be done before arithmetic takes it.
    """

    __slots__ = ()
    OFFERED: ClassVar[tuple[str, ...]] = ("shape", "dtype")
    BEFORE_VERBS: ClassVar[str] = ""

    @property
    @abstractmethod
    def described(self) -> str:
        """For messages: `'Sj' [8, 64] f32`."""

    def refused(self, asked: str, verb: str | None) -> KernelError:
        """The error for something that computes with the values, and what does it in tl."""
        instead = f"use {verb}" if verb else "tl has no verb for it"
        return KernelError(
            f"{asked} cannot compute with {self.described}; {self.BEFORE_VERBS}{instead}"
        )

    if not TYPE_CHECKING:  # a type checker is to report an unknown name itself

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            verb = NUMPY_VERBS.get(name)
            hint = f"; {self.BEFORE_VERBS}use {verb}" if verb else did_you_mean(name, self.OFFERED)
            raise NoSuchMethodError(f"{self.described} has no '{name}'{hint}")

    def __array_ufunc__(
        self, ufunc: Callable[..., Any], method: str, *_: object, **__: object
    ) -> NoReturn:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise self.refused(f"np.{name}", NUMPY_VERBS.get(name)) from None

    def __array_function__(self, function: Callable[..., Any], *_: object) -> NoReturn:
        name = function.__name__
        raise self.refused(f"np.{name}", NUMPY_VERBS.get(name))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise KernelError(
            f"{self.described} cannot become a NumPy array: a kernel records commands and has no"
            f" values; {self.BEFORE_VERBS}use tl's verbs"
        )

    def __float__(self) -> NoReturn:
        raise KernelError(
            f"{self.described} cannot become a Python number: a kernel records commands and has no"
            f" values; {self.BEFORE_VERBS}use tl's verbs"
        )

    def __int__(self) -> NoReturn:
        self.__float__()

    def __complex__(self) -> NoReturn:
        self.__float__()

    def __matmul__(self, other: object) -> NoReturn:
        raise self.refused("@", "tl.dot")

    __rmatmul__ = __matmul__

    def __pow__(self, other: object) -> NoReturn:
        raise self.refused("**", "tl.mul(v, v)")

    __rpow__ = __pow__

    def __floordiv__(self, other: object) -> NoReturn:
        raise self.refused("//", None)

    __rfloordiv__ = __floordiv__

    def __mod__(self, other: object) -> NoReturn:
        raise self.refused("%", None)

    __rmod__ = __mod__

    def __abs__(self) -> NoReturn:
        raise self.refused("abs", NUMPY_VERBS["absolute"])
