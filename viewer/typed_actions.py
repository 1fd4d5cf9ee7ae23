"""The part of the action table that has no keys: what is typed after `:`."""

from .action import Action

TYPING = "Typed after :"

TYPED = (
    Action("time", (), ":time 7.4us", TYPING, "to a time; ns without a unit", argument="TIME"),
    Action("command", (), ":command 31", TYPING, "to a command of this PE", argument="NUMBER"),
    Action("pe", (), ":pe 5", TYPING, "to the same engine of another PE", argument="NUMBER"),
    Action("line", (), ":line 118", TYPING, "to a kernel line's next command", argument="LINE"),
    Action("mark", (), ":mark NAME", TYPING, "bookmark this place under a name", argument="NAME"),
    Action("note", (), ":note WORDS", TYPING, "bookmark this place with words", argument="WORDS"),
    Action("fresh_notes", (), ":fresh_notes", TYPING, "rename a notes file of another timeline"),
    Action("speed", (), ":speed 2us", TYPING, "time to play in a second", argument="TIME"),
    Action("table", (), ":table NAME", TYPING, "as E, into NAME.csv", argument="NAME"),
    Action("picture", (), ":picture NAME", TYPING, "as e, into NAME.svg", argument="NAME"),
    Action("reload", (), ":reload", TYPING, "open the file anew, after capturing again"),
)
