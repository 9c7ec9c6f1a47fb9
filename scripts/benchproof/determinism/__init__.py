"""The determinism gate: one date derived several times under other conditions, and all bytes compared."""
