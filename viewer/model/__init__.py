"""What the browser shows, as pure functions of a timeline and of where one looks. Knows no Textual."""
