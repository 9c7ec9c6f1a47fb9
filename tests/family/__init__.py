"""Synthetic families of agent benchmarks: the shape of the real one, none of its content."""

from family.build import build_family, draft_family, write_family
from family.draft import Draft, EvalDraft, RunDraft
from family.model import Family, Finding, GradedValue, Handle, RepoInfo
from family.runs import TRAJECTORY_MARKER
from family.tree import RepoTree, write_repo

__all__ = [
    "TRAJECTORY_MARKER",
    "Draft",
    "EvalDraft",
    "Family",
    "Finding",
    "GradedValue",
    "Handle",
    "RepoInfo",
    "RepoTree",
    "RunDraft",
    "build_family",
    "draft_family",
    "write_family",
    "write_repo",
]
