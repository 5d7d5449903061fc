# Commands of the project. Needs make and a Python >= 3.10; everything else it gets itself.
#   make demo PYTHON=/path/to/python3.12     another Python than the first that fits
#   make demo PORT=10020                     another port than 10019 for the server; so does make server
#   make demo FORMAT=delta                   tables of another format than parquet: orc, delta, iceberg

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo server test test-integration test-all test-formats test-matrix test-faults histories browser cluster catalogues e2e docs wheel stop lint format bench clean

BIN := .venv/bin
PINS := requirements/build.txt requirements/run.txt requirements/constraints.txt pyproject.toml
TEST_STATE := .spark_cdc/test
STOP_TEST_SERVERS = for state in $(TEST_STATE)/*; do $(BIN)/spark-cdc server stop --if-needed --state-dir "$$state"; done
# A worker per core, each with a Spark server; the tests of a file stay together, and long files come first (see tests/conftest.py).
WORKERS ?= 2
PYTEST_ARGS ?=
FORMAT_TESTS := tests/test_histories.py tests/test_readers.py tests/test_replay.py tests/test_schema_change.py tests/test_branches.py tests/test_faults.py
BENCH_ARGS ?=
export CLUSTER_RUN ?=

ifeq ($(origin PORT),command line)
export SPARK_CDC_PORT := $(PORT)
endif

ifeq ($(origin FORMAT),command line)
DEMO_ARGS := --format $(FORMAT)
endif

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1 ## /p' Makefile | awk -F ' ## ' '{printf "%-18s %s\n", $$1, $$2}'

# `.venv`, with what a user needs, for the demo; made anew if a pin changes.
.venv/run.stamp: $(PINS)
	@python=$$(PYTHON="$(PYTHON)" sh src/spark_cdc/bootstrap/find_python.sh) || exit 1; \
	PYTHONPATH=src "$$python" -m spark_cdc.bootstrap --demo

# The same with what tests and checks need.
.venv/dev.stamp: $(PINS) requirements/dev.txt requirements/docs.txt requirements/openlineage.txt
	@python=$$(PYTHON="$(PYTHON)" sh src/spark_cdc/bootstrap/find_python.sh) || exit 1; \
	PYTHONPATH=src "$$python" -m spark_cdc.bootstrap --dev

demo: .venv/run.stamp ## two days of the examples, end to end; leaves a server running
	@$(BIN)/spark-cdc demo $(DEMO_ARGS)

server: .venv/run.stamp ## the Spark server without the examples, for data of your own: a minute
	@$(BIN)/spark-cdc deps --if-needed
	@$(BIN)/spark-cdc server start

# What each suite proves, and how long it takes: docs/testing.md.
test: SUITE = test ## what to run before each commit, on servers of its own: some 12 minutes on two cores
test-integration: SUITE = integration ## `make test` and the other tests end to end: forty minutes
test-all: SUITE = all ## everything that proves the project: some three hours
# A part of a long suite: make test-all PART=2/4.
PART ?=
test test-integration test-all: .venv/dev.stamp
	@$(BIN)/spark-cdc deps --if-needed
	@$(STOP_TEST_SERVERS); rm -rf $(TEST_STATE); mkdir -p $(TEST_STATE)
	@trap '$(STOP_TEST_SERVERS)' EXIT; \
	trap 'exit 130' INT TERM HUP; \
	SPARK_CDC_TEST_STATE=$(CURDIR)/$(TEST_STATE) SPARK_CDC_TEST_SUITE=$(strip $(SUITE)) SPARK_CDC_TEST_PART=$(PART) \
		$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Which versions, files, and what takes time: docs/spark.md, docs/dbt_versions.md.
test-matrix: .venv/dev.stamp ## tests on Spark 3.5 to 4.3, dbt 1.11, 1.12 and v2; SPARK="3.5 4.3" or DBT=v2 chooses
	@$(BIN)/spark-cdc deps --if-needed
	@$(BIN)/python tests/matrix.py $(if $(SPARK),--spark $(SPARK)) $(if $(DBT),--dbt $(DBT)) $(PYTEST_ARGS)

# Parts of it, and beyond it: see tests/test_faults.py for what else can be chosen.
test-faults: .venv/dev.stamp ## kills servers and dbt at many statements of loads: two to five hours, see docs/reliability.md
	@$(BIN)/spark-cdc deps --if-needed
	@SPARK_CDC_TEST_SUITE=all SPARK_CDC_FAULTS_SECONDS=$${SPARK_CDC_FAULTS_SECONDS:-inf} \
		$(BIN)/python -m pytest tests/test_faults.py $(PYTEST_ARGS)

# Suites that prove what loads and operations do, on servers and ledgers of each format: some two hours each; beyond `make test-all`, which has
# tests/test_homes.py.
FORMATS ?= orc delta iceberg
test-formats: .venv/dev.stamp ## histories, readers, replays, schema change, branches and killed runs with ledgers of each format
	@$(BIN)/spark-cdc deps --if-needed
	@trap 'exit 130' INT TERM HUP; \
	failed=; for format in $(FORMATS); do echo "$$format:"; SPARK_CDC_TEST_SUITE=all SPARK_CDC_TEST_PART=$(PART) SPARK_CDC_TEST_FORMAT=$$format SPARK_CDC_TEST_HISTORIES=2000 \
		SPARK_CDC_FAULTS_CELLS=snap,diff,moves SPARK_CDC_FAULTS_EVERY=40 SPARK_CDC_FAULTS_SECONDS=120 \
		$(BIN)/python -m pytest $(FORMAT_TESTS) $(PYTEST_ARGS) || failed="$$failed $$format"; done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

histories: ## 100,000 random histories of change events, of which `make test` runs 54 and `make test-all` 12,000: half an hour
	@SPARK_CDC_TEST_HISTORIES=100000 $(MAKE) --no-print-directory test-all PYTEST_ARGS="tests/test_event_histories.py tests/test_events_read_again.py"

browser: .venv/dev.stamp ## opens report and site in Chromium (Debian: chromium); part of `make test-all`
	@$(BIN)/spark-cdc deps --if-needed
	@SPARK_CDC_TEST_BROWSER=1 $(BIN)/python -m pytest tests/test_report_browser.py tests/test_site.py $(PYTEST_ARGS)

# Master, two workers, a metastore in PostgreSQL, Thrift servers: see docs/cluster.md. What it needs and lacks it names.
cluster: .venv/dev.stamp ## tests on a cluster of this machine; or CLUSTER_RUN="command" against it
	@$(BIN)/spark-cdc deps --if-needed
	@if [ -n "$$CLUSTER_RUN" ]; then PYTHONPATH=src:tests PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m cluster "$$CLUSTER_RUN"; \
	else SPARK_CDC_TEST_CLUSTER=1 $(BIN)/python -m pytest tests/test_cluster.py $(PYTEST_ARGS); fi

# JDBC on PostgreSQL, and REST by the server of Iceberg's own tests: see docs/iceberg_catalogues.md. What it needs and lacks it names.
CATALOGUES ?= jdbc rest
catalogues: .venv/dev.stamp ## loads, operations, races and killed runs on Iceberg's catalogues; CATALOGUES=rest chooses
	@$(BIN)/spark-cdc deps --if-needed
	@SPARK_CDC_TEST_CATALOGUES="$(CATALOGUES)" SPARK_CDC_TEST_FORMAT=iceberg SPARK_CDC_FAULTS_EVERY=40 SPARK_CDC_FAULTS_SECONDS=$${SPARK_CDC_FAULTS_SECONDS:-120} \
		$(BIN)/python -m pytest tests/test_catalogues.py $(PYTEST_ARGS)

# PostgreSQL, Kafka, Connect with Debezium, a registry, Spark, all of them here: docs/postgresql.md. KILLS=1 kills each once, SOAK=30 goes on for so
# many minutes; ENCODINGS="json" leaves Avro out; S3=1 lands and loads on an S3 server.
ENCODINGS ?= json avro
E2E_ARGS ?=
e2e: .venv/dev.stamp ## a PostgreSQL that changes, by Debezium and Kafka to tables, compared at ten moments
	@$(BIN)/spark-cdc deps --if-needed
	@for encoding in $(ENCODINGS); do PYTHONPATH=src:tests $(BIN)/python -m e2e --encoding $$encoding \
		$(if $(S3),--s3) $(if $(KILLS),--kills) $(if $(SOAK),--soak $(SOAK)) $(E2E_ARGS) || exit 1; done

# Links and anchors are checked; nothing is fetched, neither now nor when the site is read. dbt docs take their columns from the YAML, so no server is asked.
.PHONY: docs
docs: .venv/dev.stamp ## the documentation as a site, with dbt docs beside it: target/site/index.html
	@$(BIN)/spark-cdc deps --if-needed
	@export DBT_PROFILES_DIR=profiles DBT_TARGET_PATH=target/dbt_docs; \
	$(BIN)/dbt --quiet parse && $(BIN)/dbt --quiet docs generate --no-compile --empty-catalog --static
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file site/mkdocs.yml
	@echo "target/site/index.html"

# What a release uploads, made of what Git knows; two builds of one commit are the same (SOURCE_DATE_EPOCH).
wheel: .venv/dev.stamp ## the wheel with the dbt package: target/dist
	@$(BIN)/python tests/wheel.py target/dist

stop: ## end the server that `make demo` or `make server` left running
	@if [ -x $(BIN)/spark-cdc ]; then $(BIN)/spark-cdc server stop; else echo "No server runs: nothing is installed."; fi

# The SQL of students and of synthetic is that of customers, orders and members with other columns: it is left out.
lint: .venv/dev.stamp ## Ruff, mypy and SQLFluff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	rm -rf target/rendered && $(BIN)/python tests/rendered_sql.py target/rendered
	$(BIN)/sqlfluff lint --config .sqlfluff --disable-progress-bar --processes 2 $$(ls -d target/rendered/* | grep -v -e /landing -e /students -e /synthetic)

format: .venv/dev.stamp ## let Ruff lay out the Python code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev.stamp ## measurements; for example BENCH_ARGS="--rows 1000000"
	@$(BIN)/spark-cdc deps --if-needed
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

clean: stop ## remove what was built: .venv, dbt's output, all local data
	@$(if $(wildcard $(BIN)/spark-cdc),$(STOP_TEST_SERVERS))
	rm -rf .venv .spark_cdc target logs dbt_packages .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
