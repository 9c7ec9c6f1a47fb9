"""The cases by kind. Defects were thought of before it was looked up what the code checks."""
