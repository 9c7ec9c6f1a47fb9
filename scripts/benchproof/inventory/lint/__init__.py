"""The linter of evaluation files: one module per theme, one small pure function per rule.

A rule looks at one evaluation or at one repository as `subject` shows it, and yields places. Places
hold structure, never a graded value; what a place itself would give away is `withheld`.
"""
