"""The screens: the timeline, and what can be laid over it."""
