# Two commands for everybody: `make demo` and `make test`. Both set up what they need first.
PY := .venv/bin/python

.PHONY: demo test lint native python clean

demo:
	./setup.sh
	$(PY) -m examples.demo

test:
	./setup.sh --test
	$(MAKE) --no-print-directory lint native python

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports

native:
	ctest --test-dir build --output-on-failure --no-tests=ignore

python:
	$(PY) -m pytest -n 2 --dist loadgroup

clean:
	rm -rf build .venv demo searchspace/kernels/*.so
