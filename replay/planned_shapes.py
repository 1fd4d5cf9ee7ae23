"""The templates of a trace's commands: each distinct shape is planned once, whichever streams have it."""

import numpy as np

from ..schemas.columns import Int32s, Int64s
from ..schemas.errors import KerntapeError
from ..schemas.topology import Topology
from ..schemas.trace import Trace
from .command_plan import CommandPlan, CommandShape
from .remote import Variant
from .templates import ClassTable, Template, freeze, plan_command
from .ways import Ways


class PlannedShapes:
    """The shapes planned so far on a machine; `durations` and `lags` are the classes they use."""

    def __init__(self, trace: Trace, machine: Topology) -> None:
        self.durations, self.lags = ClassTable(), ClassTable()
        self._trace = trace
        self._machine = machine
        self._planned: dict[tuple[int, tuple[int, ...], Ways], Template] = {}

    def of_stream(self, variant: Variant) -> tuple[Int32s, list[Template]]:
        """Per command of the stream, the number of its template; and these templates.

        Raises KerntapeError for a command that cannot be planned.
        """
        trace, stream = self._trace, self._trace.streams[variant.stream]
        template_of = np.zeros(stream.command_count, dtype=np.int32)
        templates: list[Template] = []
        slot_offsets = trace.slot_offsets(stream)
        keys = variant.plan_keys(stream, len(trace.geometries))
        for form_number in np.unique(stream.forms):
            slot_count = trace.forms[form_number].slot_count
            rows = np.flatnonzero(stream.forms == form_number)
            slots = slot_offsets[rows][:, None] + np.arange(slot_count)
            of_slots = keys[stream.slots[slots]].reshape(len(rows), slot_count)
            distinct, which = np.unique(of_slots, axis=0, return_inverse=True)
            template_of[rows] = which.reshape(-1) + len(templates)
            templates += [
                self._template(variant, int(form_number), of_command, rows)
                for of_command in distinct.tolist()
            ]
        return template_of, templates

    def _template(
        self, variant: Variant, form_number: int, keys: list[int], rows: Int64s
    ) -> Template:
        """The template of a form's commands `rows` whose slots have these plan keys."""
        count = len(self._trace.geometries)
        geometries = tuple(key % count for key in keys)
        ways = variant.ways_of(keys, count)
        known = form_number, geometries, ways
        if known not in self._planned:
            form = self._trace.forms[form_number]
            placed = tuple(self._trace.geometries[number] for number in geometries)
            plan = self._plan(variant.stream, rows, CommandShape(form, placed, ways))
            self._planned[known] = freeze(plan, self.durations, self.lags)
        return self._planned[known]

    def _plan(self, stream: int, rows: Int64s, shape: CommandShape) -> CommandPlan:
        """The command's plan. An error names the first command of that form."""
        try:
            return plan_command(shape, self._machine)
        except KerntapeError as error:
            first = int(rows[0])
            line = self._trace.lines[int(self._trace.streams[stream].lines[first])]
            raise KerntapeError(f"command {first} ({line}): {error}") from None
