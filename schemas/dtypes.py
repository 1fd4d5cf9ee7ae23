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


_SIZE_BYTES = {DType.F16: 2, DType.BF16: 2, DType.F32: 4, DType.I32: 4, DType.BOOL: 1}
