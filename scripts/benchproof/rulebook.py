"""Every kind of finding by its id: those of the stages and those of the linter."""

from __future__ import annotations

from benchproof.findings import RULES as OF_STAGES
from benchproof.inventory.lint.every import RULES as OF_LINT
from benchproof.severity import Rule

RULES: dict[str, Rule] = {
    **OF_STAGES,
    **OF_LINT,
}
