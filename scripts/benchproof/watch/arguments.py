"""The options of `benchproof watch`, and those that `purge` shares with it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from benchproof.errors import ConfigError

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_watch(command: argparse.ArgumentParser, accepted: Path) -> None:
    """Add the options of `watch`."""
    command.add_argument(
        "--limit",
        type=seconds,
        default="20h",
        metavar="TIME",
        help="end the run after this long (90s, 30m, 20h, 2d; default 20h); the next one goes on",
    )
    add_keep(command, command, "then delete all but the newest N complete reports")
    command.add_argument(
        "--prometheus", metavar="FILE", help="also write the status for Prometheus' node exporter"
    )
    command.add_argument(
        "--accepted", default=str(accepted), metavar="FILE", help="what is accepted"
    )
    command.add_argument(
        "--workflow-profile", metavar="FOLDER", help="for snakemake, for example profiles/slurm"
    )
    command.add_argument("extra", nargs="*", metavar="-- ARGUMENT", help="more for snakemake")


def add_keep(
    which: argparse._ActionsContainer, command: argparse._ActionsContainer, text: str
) -> None:
    """Add the options of retention; `which` is where `--keep` excludes others."""
    which.add_argument("--keep", type=whole, metavar="N", help=text)
    command.add_argument(
        "--forget",
        action="store_true",
        help="with --keep: also what only those reports needed of the vault, perhaps the only copy",
    )


def check_keep(options: argparse.Namespace) -> None:
    """Raise ConfigError for a `--forget` that says nothing."""
    if options.forget and options.keep is None:
        raise ConfigError("--forget goes with --keep N.")


def seconds(text: str) -> float:
    """Return a time like 20h in seconds; raises ArgumentTypeError."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; write for example 90s, 30m, 20h or 2d"
        )
    return float(int(found[1]) * _UNITS[found[2]])


def whole(text: str) -> int:
    """Return a whole number from 1; raises ArgumentTypeError."""
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)
