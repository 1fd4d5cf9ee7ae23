"""The timeline browser. `model/` computes what is shown, without widgets; the rest shows it with Textual."""
