"""The element types a handle can have, and their sizes. Names are the ones users write."""

from enum import StrEnum


class DType(StrEnum):
    """Storage types. Arithmetic on the three float types is done in f32 and rounded when stored."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    I32 = "i32"
    BOOL = "bool"

    @property
    def size_bytes(self) -> int:
        return _SIZE_BYTES[self]

    @property
    def relative_tolerance(self) -> float:
        """How far a result may lie from its reference, as a share of the reference's largest value.

        Four units in the last place of f16 (10 bits after the point) and bf16 (7 bits); in f32, what
        sums of a few thousand terms may lose; 0 for i32 and bool.
        """
        return _RELATIVE_TOLERANCE.get(self, 0.0)


_SIZE_BYTES = {DType.F16: 2, DType.BF16: 2, DType.F32: 4, DType.I32: 4, DType.BOOL: 1}
_RELATIVE_TOLERANCE = {DType.F16: 2.0**-8, DType.BF16: 2.0**-5, DType.F32: 2.0**-16}
