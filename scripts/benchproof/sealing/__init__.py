"""What a finished report is checked by, offline and by anybody."""
