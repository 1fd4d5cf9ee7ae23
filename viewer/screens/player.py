"""Playing on the main screen: a timer moves the cursor's time on until the end, or until a key is hit."""

from textual.timer import Timer

from ..model import times
from ..model.playing import TICKS_PER_S, advanced, at_end, faster, first_speed, slower
from .host import Host


class Player:
    """`speed` is in picoseconds a second; it is chosen by the window when playing begins first."""

    def __init__(self, screen: Host) -> None:
        self._screen = screen
        self._timer: Timer | None = None
        self.speed = 0

    @property
    def is_playing(self) -> bool:
        return self._timer is not None

    def start(self) -> None:
        """Plays from the cursor on; at the end, from the beginning."""
        screen = self._screen
        self.speed = self.speed or first_speed(screen.look)
        if at_end(screen.index, screen.look):
            screen.go(advanced(screen.index, screen.look, -screen.look.at_ps))
        self._timer = screen.set_interval(1 / TICKS_PER_S, self.tick)
        self._tell()

    def stop(self) -> None:
        """Stays where it is."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self._screen.say("")

    def tick(self) -> None:
        """One step of playing."""
        screen = self._screen
        screen.go(advanced(screen.index, screen.look, max(self.speed // TICKS_PER_S, 1)))
        if at_end(screen.index, screen.look):
            self.stop()
            screen.say("the timeline ends here: Space plays it from its beginning")
        else:
            self._tell()

    def change(self, by: int) -> None:
        """Twice (by=1) or half as fast."""
        speed = self.speed or first_speed(self._screen.look)
        self.set_speed(faster(speed) if by > 0 else slower(speed))
        if by < 0 and self.speed == speed:
            self._screen.say(f"{times.short(speed)} a second is as slow as it gets")

    def set_speed(self, speed: int) -> None:
        """So many picoseconds a second, at least 1 a tick: TICKS_PER_S."""
        self.speed = max(speed, TICKS_PER_S)
        self._tell()

    def _tell(self) -> None:
        state = "playing" if self.is_playing else "Space plays"
        self._screen.say(f"{state}: {times.short(self.speed)} a second · < slower · > faster")
