"""Seeded fault campaigns against the fetch engine: many faults, many combinations, few laws."""

from campaign.runs import Trial, draw, run
from campaign.site import HANDLE, Site

__all__ = ["HANDLE", "Site", "Trial", "draw", "run"]
