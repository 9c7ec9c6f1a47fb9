"""Every kind of finding by its id: those of the stages, of the linter, and of published tables."""

from __future__ import annotations

from benchproof.analysis.consistency import RULES as OF_RECORDS
from benchproof.analysis.published.rules import RULES as OF_PUBLISHED
from benchproof.findings import RULES as OF_STAGES
from benchproof.inventory.lint.every import RULES as OF_LINT
from benchproof.severity import Rule

RULES: dict[str, Rule] = {
    **OF_STAGES,
    **OF_LINT,
    **OF_RECORDS,
    **OF_PUBLISHED,
}
