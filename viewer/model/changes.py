"""Differences between two times, in words."""

FACTOR_FROM = 10
"""From so many times its size on, a growth is told as a factor."""

FACTOR_UNITS = ((" T", 10**12), (" G", 10**9), (" M", 10**6), ("", 1))


def signed_percent(change_ps: int, whole_ps: int) -> str:
    """`−7.05 %`, `+0.31 %`, `×4.03 M` from 1000 % on; `·` for no change, `<0.01 %` with its sign for
    hardly any.
    """
    if not change_ps or not whole_ps:
        return "·"
    if change_ps >= FACTOR_FROM * whole_ps:
        return _factor(whole_ps + change_ps, whole_ps)
    sign = "+" if change_ps > 0 else "−"
    hundredths = (10_000 * abs(change_ps) + whole_ps // 2) // whole_ps
    if not hundredths:
        return f"{sign}<0.01 %"
    return f"{sign}{hundredths // 100}.{hundredths % 100:02} %"


def _factor(now_ps: int, before_ps: int) -> str:
    """About three digits: `×11.5`, `×4.03 M`; whole from a hundred on, with thousands marked."""
    suffix, unit = next(one for one in FACTOR_UNITS if now_ps >= one[1] * before_ps)
    size = unit * before_ps
    hundredths = (100 * now_ps + size // 2) // size
    if hundredths >= 100_00:
        return f"×{(now_ps + size // 2) // size:,}{suffix}"
    decimals = 1 if hundredths >= 10_00 else 2
    step = 10**decimals
    parts = (step * now_ps + size // 2) // size
    number = f"{parts // step}.{parts % step:0{decimals}}".rstrip("0").rstrip(".")
    return f"×{number}{suffix}"
