# make demo   audit the embedded synthetic family, without any network once the environment is there
# make audit  audit the real family
# make test   everything that continuous integration runs
# make env    just the environment, in .venv
.POSIX:
.PHONY: env demo audit test bench clean
PY = .venv/bin/python

env: .venv/bin/benchproof

.venv/bin/benchproof: requirements.txt envs/make_env.sh
	@sh envs/make_env.sh requirements.txt

.venv/dev: requirements-dev.txt .venv/bin/benchproof
	@sh envs/make_env.sh requirements-dev.txt
	@touch .venv/dev

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
	.venv/bin/pytest -n 2 --dist loadfile

bench: .venv/dev
	$(PY) benchmarks/content_audit.py

clean:
	rm -rf .venv build .snakemake
