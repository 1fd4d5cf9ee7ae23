"""The contracts: what passes between capture, replay and the viewer, and how it is checked. Knows nobody."""
