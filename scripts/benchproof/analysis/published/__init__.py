"""Published result tables: read as text, brought into one form, checked for what can be checked outside."""
