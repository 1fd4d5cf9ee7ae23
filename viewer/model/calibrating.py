"""What one turns in the calibration panel: some numbers of a calibration, and the hazard policy.

Immutable; a key makes new settings from the old. Knows no timeline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal

from ...replay.parameters import changed, value_of
from ...schemas.calibration import Calibration
from ...schemas.errors import KerntapeError
from ...schemas.hazard_policy import HazardPolicy

POLICY = "hazard policy"
"""The row that chooses the policy; every other row is a number by its dotted path."""

MOST_TYPED = 40
"""So many characters may a typed number have."""

_FOUR_DIGITS = Context(prec=4)


class TurnError(KerntapeError):
    """A number cannot be turned that way."""


@dataclass(frozen=True)
class Settings:
    """The base that the timeline came with, and what was changed: `changes` by dotted path."""

    base: Calibration
    base_policy: HazardPolicy
    policy: HazardPolicy
    changes: dict[str, Decimal] = field(default_factory=dict)

    @property
    def calibration(self) -> Calibration:
        """The base with the changes. Raises ConfigError where a number is not what it must be."""
        return changed(self.base, self.changes) if self.changes else self.base

    @property
    def is_base(self) -> bool:
        return not self.changes and self.policy == self.base_policy

    def value(self, path: str) -> Decimal:
        """The number as it stands now."""
        return self.changes.get(path, value_of(self.base, path))

    def is_changed(self, row: str) -> bool:
        """Whether a row differs from the base."""
        return self.policy != self.base_policy if row == POLICY else row in self.changes

    @property
    def changed_rows(self) -> tuple[str, ...]:
        """What differs from the base: the policy, then numbers in the order in which they were changed."""
        policy = (POLICY,) if self.is_changed(POLICY) else ()
        return (*policy, *self.changes)

    def words(self, row: str) -> str:
        """What a row says now."""
        return self.policy.name if row == POLICY else format(self.value(row), "f")

    def base_words(self, row: str) -> str:
        """What it said at first."""
        return unchanged(self.base, self.base_policy).words(row)


def unchanged(base: Calibration, policy: HazardPolicy) -> Settings:
    """The settings of a timeline as it was opened."""
    return Settings(base, policy, policy)


def turned(
    settings: Settings, row: str, by: int, policies: Sequence[HazardPolicy] = ()
) -> Settings:
    """One step up (1) or down (−1): a number ×1.1 or ÷1.1, at four digits; the policy the next one.

    Raises TurnError for a 0, which has no tenth, and ConfigError past what the number may be.
    """
    if row == POLICY:
        return _with_next_policy(settings, by, policies)
    value = settings.value(row)
    if not value:
        raise TurnError(f"{row} is 0, which has no tenth; Enter types another value")
    step = Decimal("1.1")
    scaled = _FOUR_DIGITS.multiply(value, step) if by > 0 else _FOUR_DIGITS.divide(value, step)
    return _with(settings, row, scaled)


def typed(settings: Settings, path: str, text: str) -> Settings:
    """The number as it was typed, exactly. Raises ConfigError where it is not what it must be, and
    TurnError where it is longer than any.
    """
    if len(text.strip()) > MOST_TYPED:
        raise TurnError(f"{path} must be of at most {MOST_TYPED} characters, not {len(text):,}")
    checked = changed(settings.base, {path: text.strip()})
    return _with(settings, path, value_of(checked, path))


def reset(settings: Settings, row: str) -> Settings:
    """One row as it was."""
    if row == POLICY:
        return replace(settings, policy=settings.base_policy)
    kept = {path: value for path, value in settings.changes.items() if path != row}
    return replace(settings, changes=kept)


def _with(settings: Settings, path: str, value: Decimal) -> Settings:
    """Raises ConfigError where the value is not what it must be."""
    plain = Decimal(format(value.normalize(), "f"))
    if plain == value_of(settings.base, path):
        return reset(settings, path)
    turned_to = replace(settings, changes=settings.changes | {path: plain})
    changed(settings.base, turned_to.changes)
    return turned_to


def _with_next_policy(settings: Settings, by: int, policies: Sequence[HazardPolicy]) -> Settings:
    """The next among the shipped ones and the timeline's own, round and round."""
    known = [*policies]
    if settings.base_policy not in known:
        known.append(settings.base_policy)
    place = known.index(settings.policy)
    return replace(settings, policy=known[(place + by) % len(known)])


def turn_complaint(row: str, error: KerntapeError) -> str:
    """What is wrong with a value, in one line: the number by its last name, for the row is on the screen."""
    return str(error).removeprefix("change: ").replace(row, row.rpartition(".")[2], 1)
