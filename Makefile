# make demo   audit the embedded synthetic family, without any network once the environment is there
# make audit  audit the real family
# make test   everything that continuous integration runs
# make env    just the environment, in .venv; WHEELHOUSE=folder takes its packages from there, PYTHON=… makes it
# make env-slurm   the environment and the Slurm executor: docs/cluster.md
# make wheelhouse  every package of both, for a machine without a network
# make audited     seeded defects against the whole pipeline, some minutes: docs/audited.md
# make test-slurm  audits through a small Slurm on this machine: CONTRIBUTING.md
# make test-systemd  the units of share/systemd under a systemd of their own: CONTRIBUTING.md
.POSIX:
.PHONY: env env-slurm wheelhouse demo audit test test-slurm test-systemd audited bench clean
PY = .venv/bin/python

env: .venv/bin/benchproof

.venv/bin/benchproof: requirements.txt envs/make_env.sh
	@sh envs/make_env.sh requirements.txt

.venv/dev: requirements-dev.txt .venv/bin/benchproof
	@sh envs/make_env.sh requirements-dev.txt
	@touch .venv/dev

.venv/slurm: requirements-slurm.txt .venv/bin/benchproof
	@sh envs/make_env.sh requirements-slurm.txt
	@touch .venv/slurm

env-slurm: .venv/slurm

wheelhouse: env
	.venv/bin/python -m pip download --quiet --disable-pip-version-check --require-hashes -d wheelhouse -r requirements-slurm.txt
	@# One package of the lock comes as source: pip builds it with these.
	.venv/bin/python -m pip download --quiet --disable-pip-version-check -d wheelhouse setuptools wheel

demo: env
	@$(PY) tests/demo.py

audit: env
	@.venv/bin/snakemake --cores all --quiet rules host

test: .venv/dev
	.venv/bin/ruff format --check scripts tests benchmarks
	.venv/bin/ruff check scripts tests benchmarks
	.venv/bin/mypy scripts tests benchmarks
	.venv/bin/snakefmt --check Snakefile rules
	.venv/bin/codespell
	.venv/bin/snakemake --lint
	.venv/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder

test-slurm: .venv/dev .venv/slurm
	tests/slurm/run.sh .venv/bin/pytest tests/slurm

test-systemd: .venv/dev
	SYSTEMD_TESTBED=1 .venv/bin/pytest tests/systemd

audited: .venv/dev
	PYTHONPATH=scripts:tests $(PY) -m defects

bench: .venv/dev
	$(PY) benchmarks/content_audit.py

clean:
	rm -rf .venv build .snakemake
