"""Differences between two times, in words."""


def signed_percent(change_ps: int, whole_ps: int) -> str:
    """`−7.05 %`, `+0.31 %`; `·` for no change, `<0.01 %` with its sign for hardly any."""
    if not change_ps or not whole_ps:
        return "·"
    sign = "+" if change_ps > 0 else "−"
    hundredths = (10_000 * abs(change_ps) + whole_ps // 2) // whole_ps
    if not hundredths:
        return f"{sign}<0.01 %"
    return f"{sign}{hundredths // 100}.{hundredths % 100:02} %"
