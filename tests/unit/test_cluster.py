"""Jobs that a dead run left on a cluster (BR-51): found by name, ended, waited for; silence is no answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchproof import cluster
from benchproof.cluster import ClusterJob, cancel, failures, is_empty, leftovers, name_of
from benchproof.errors import ClusterError

NAME = "benchproof_4f3a"
Answers = Callable[..., Path]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Put a squeue that gives these answers in turn, the last one for ever, and a scancel, into PATH."""

    def install(*answers: str, code: int = 0) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        for number, answer in enumerate(answers):
            (folder / f"answer{number}").write_text(answer)
        for program, reply in (
            ("squeue", f"n=$(grep -c ^squeue {folder}/calls)\nlast={len(answers) - 1}\n"
                       f'[ "$n" -le "$last" ] || n=$((last + 1))\n. {folder}/answer$((n - 1))'),
            ("scancel", f"exit {code}"),
        ):  # fmt: skip
            path = folder / program
            path.write_text(f'#!/bin/sh\necho {program} "$@" >> {folder}/calls\n{reply}\n')
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return folder

    return install


def calls(folder: Path, program: str) -> list[str]:
    lines = (folder / "calls").read_text().splitlines()
    return [line.removeprefix(f"{program} ") for line in lines if line.startswith(program)]


def shown(*jobs: str) -> str:
    return "\n".join(f"echo '{job}'" for job in jobs) or ":"


def test_what_ended_is_no_leftover_and_what_waits_is(slurm: Answers) -> None:
    """Every state of squeue: ended ones are done, all others may still write. Tasks of an array count."""
    states = sorted(cluster.ENDED)
    ended = [f"{100 + n}|{state}|rule_x" for n, state in enumerate(states)]
    living = ["12|RUNNING|group_content", "9|PENDING|rule_a|b", "10_2|SUSPENDED|", "11|COMPLETING|"]
    folder = slurm(shown(*ended, *living))
    assert leftovers(NAME) == [
        ClusterJob("9", "PENDING", "rule_a|b"),
        ClusterJob("10_2", "SUSPENDED", ""),
        ClusterJob("11", "COMPLETING", ""),
        ClusterJob("12", "RUNNING", "group_content"),
    ]
    [asked] = calls(folder, "squeue")
    assert f"--name={NAME}" in asked.split()
    assert f"--user={os.getuid()}" in asked.split()


def test_a_run_whose_jobs_have_ended_costs_one_question(slurm: Answers) -> None:
    folder = slurm(shown("1|TIMEOUT|", "2|OUT_OF_MEMORY|", "3|NODE_FAIL|", "4|CANCELLED|"))
    assert cancel(NAME) == 0
    assert len((folder / "calls").read_text().splitlines()) == 1


def test_what_ended_badly_is_told_once_and_only_if_no_later_try_did_better(slurm: Answers) -> None:
    slurm(
        shown("1|TIMEOUT|group_a", "3|COMPLETED|group_a", "2|NODE_FAIL|rule_b", "10|FAILED|rule_b")
    )
    assert failures(NAME) == [ClusterJob("10", "FAILED", "rule_b")]


def test_jobs_are_ended_by_number_and_waited_for(slurm: Answers) -> None:
    folder = slurm(
        shown("1|RUNNING|", "2|PENDING|"),
        shown("1|COMPLETING|", "2|CANCELLED|"),
        shown("1|CANCELLED|", "2|CANCELLED|"),
    )
    slept: list[float] = []
    assert cancel(NAME, sleep=slept.append) == 2
    assert calls(folder, "scancel") == ["1 2"]
    assert slept == [1.0, 1.0]


def test_a_job_that_slurm_queues_again_is_ended_again(slurm: Answers) -> None:
    """PREEMPTED and NODE_FAIL with requeueing come back as PENDING under the same number."""
    folder = slurm(shown("1|RUNNING|"), shown("1|PENDING|"), shown("1|CANCELLED|"))
    assert cancel(NAME, sleep=lambda _: None) == 1
    assert calls(folder, "scancel") == ["1", "1"]


def test_a_job_that_goes_on_is_named_with_its_state(slurm: Answers) -> None:
    slurm(shown("7|RUNNING|"))
    ticks = iter(range(0, 1000, 40))
    with pytest.raises(ClusterError, match=rf"jobs 7 .*\(RUNNING\).*scancel --name={NAME}"):
        cancel(NAME, sleep=lambda _: None, clock=lambda: next(ticks))


def test_a_dead_node_does_not_hold_the_next_run_for_ever(slurm: Answers) -> None:
    """Its job stays COMPLETING until the node is back; nothing can end it, and nothing runs there."""
    folder = slurm(shown("7|RUNNING|"), shown("7|COMPLETING|"))
    ticks = iter(range(0, 1000, 40))
    assert cancel(NAME, sleep=lambda _: None, clock=lambda: next(ticks)) == 1
    assert calls(folder, "scancel") == ["7"]


def test_three_failed_questions_are_asked_a_fourth_time(slurm: Answers) -> None:
    busy = "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
    folder = slurm(busy, busy, busy, shown("3|RUNNING|"))
    slept: list[float] = []
    assert [job.number for job in leftovers(NAME, sleep=slept.append)] == ["3"]
    assert slept == [2.0, 4.0, 6.0]
    assert len(calls(folder, "squeue")) == 4


def test_no_answer_does_not_mean_no_jobs(slurm: Answers) -> None:
    slurm("echo 'Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(ClusterError, match=r"squeue failed 4 times \(Unable to contact"):
        leftovers(NAME, sleep=lambda _: None)


def test_a_silent_controller_is_given_up(slurm: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm("exec sleep 60")
    monkeypatch.setattr(cluster, "_SILENCE_S", 0.05)
    with pytest.raises(ClusterError, match="silent"):
        leftovers(NAME, sleep=lambda _: None)


def test_a_machine_without_slurm_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="squeue is not on this machine"):
        leftovers(NAME)


def test_a_job_that_is_gone_before_scancel_is_no_error(slurm: Answers) -> None:
    folder = slurm(shown("5|RUNNING|"), shown(), code=1)
    (folder / "scancel").write_text(
        "#!/bin/sh\necho 'scancel: error: Invalid job id 5' >&2\nexit 1\n"
    )
    assert cancel(NAME, sleep=lambda _: None) == 1


@pytest.mark.parametrize(
    ("executor", "name"),
    [(SimpleNamespace(run_uuid=NAME), NAME), (SimpleNamespace(), None), (None, None)],
)
def test_only_a_run_that_submits_has_a_name(executor: object, name: str | None) -> None:
    workflow = SimpleNamespace(scheduler=SimpleNamespace(_executor=executor))
    assert name_of(workflow) == name
    assert name_of(SimpleNamespace(scheduler=None)) is None


def test_a_run_whose_jobs_were_all_refused_has_none(slurm: Answers) -> None:
    """One that ended is one."""
    slurm(":", shown("12|COMPLETED|group_content"))
    assert is_empty(NAME)
    assert not is_empty(NAME)
