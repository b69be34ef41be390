# Two commands are enough: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv/bin
KEEP   ?=
# Tests wait more than they reckon, so more of them run at a time than there are cores.
WORKERS ?= -n 3 --dist worksteal
PYTEST := tools/run_tests.sh

.DEFAULT_GOAL := help
.PHONY: help venv native dev wheel test-packages bundle bundle-here show-site show-site-arm64 demo test test-all faults coverage lint format messages lists lock bench bench-archive bench-balance bench-churn bench-predict bench-crawl bench-fetching bench-frontier bench-pages bench-dedup bench-distribution bench-hostcache bench-hostile bench-islands bench-lists bench-live bench-lying bench-manager bench-scope bench-senders bench-shared bench-split bench-sitemaps bench-collection bench-comparison bench-console peers-lock replay-lock screenshots

help:  ## say what each target does
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

venv:  ## the virtual environment of the programs, from requirements.lock with hashes
	@$(PYTHON) tools/make_venv.py

native:  ## the same, the compiler, and shared/native compiled: agents and managers need less of a processor
	@$(PYTHON) tools/make_venv.py native

dev:  ## the same, and what tests, linters and benchmarks need
	@$(PYTHON) tools/make_venv.py native dev

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
  --no-emit-index-url --no-emit-find-links
lock: dev  ## choose versions anew and write the three lock files with hashes; LOCK_ARGS=--upgrade for newer ones
	$(VENV)/$(LOCK) $(LOCK_ARGS) --all-extras --group build pyproject.toml -o requirements.lock
	$(VENV)/$(LOCK) $(LOCK_ARGS) --group native -c requirements.lock -o requirements-native.lock
	$(VENV)/$(LOCK) $(LOCK_ARGS) --group dev -c requirements.lock -o requirements-dev.lock

peers-lock: dev  ## the same for the crawlers that we are compared with, which nothing else installs
	$(VENV)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header \
	  --group peers -o benchmarks/crawl/peers.lock --no-emit-index-url --no-emit-find-links

replay-lock: dev  ## the same for pywb, with which a test replays what was crawled
	$(VENV)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header \
	  --group replay -o tests/e2e/pywb.lock --no-emit-index-url --no-emit-find-links

lint: dev  ## ruff, mypy strict, import contracts
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/python -m ziglang fmt --check shared/native
	$(VENV)/mypy
	$(VENV)/lint-imports

lists: dev  ## write the reference of the console's lists (docs/operations/lists.md)
	@$(VENV)/python -m tools.lists $(ARGS)

messages: dev  ## take the console's sentences into its catalogues, and compile them
	@$(VENV)/python -m tools.messages $(ARGS)

format: dev  ## let ruff lay the code out
	$(VENV)/ruff check --fix .
	$(VENV)/ruff format .
	$(VENV)/python -m ziglang fmt shared/native

test-packages:  ## Debian's packages for tests, installed as root with apt-get; ARGS=all for those of all targets
	@tools/test_packages.sh $(ARGS)

test: dev  ## the default suite; changes nothing outside of this folder, and says what it skips and why
	$(PYTEST) -q -m "not slow" $(WORKERS)

test-all: dev  ## everything, also what takes minutes; fails where a part is missing
	@tools/test_packages.sh check all
	PRSM_TESTS=all $(PYTEST) -q $(WORKERS)

faults: dev  ## bad days: what breaks is made to break, measured and checked; ARGS="--quick" or "--only NAME"
	@tools/test_packages.sh check all
	$(VENV)/python -m benchmarks.faults $(ARGS)

coverage: dev  ## the default suite, and which lines and branches it runs
	$(PYTEST) -q -m "not slow" $(WORKERS) --cov --cov-report=term:skip-covered

wheel: native  ## the wheel of this tree, with compiled native code, into dist/: pip install 'dist/prsm-0.1.0-py3-none-any.whl[manager]'
	@$(VENV)/python -m tools.bundle.wheel

bundle: dev  ## the archive that sites install from, into dist/: ARGS="--root 1.root.json", or ARGS=--no-updates
	@$(VENV)/python -m tools.bundle $(ARGS)

bundle-here: dev  ## the same for this Python and machine only
	@$(VENV)/python -m tools.bundle --here $(ARGS)

show-site: dev  ## a partner's site: archive to first page, cron, updates good and bad; as root with a user of its own
	@tools/test_packages.sh check
	@$(VENV)/python -m tools.show_site $(ARGS)

show-site-arm64: dev  ## the same at a site of arm64, emulated: a Debian in build/, made as root with debootstrap and qemu; half an hour
	@tools/test_packages.sh check
	@tools/debian_root.sh arm64 bookworm build/debian-arm64-bookworm
	@$(VENV)/python -m tools.show_site --system build/debian-arm64-bookworm $(ARGS)

demo: venv  ## a whole system on this machine: two rounds, a table; KEEP=1 leaves it running
	@$(VENV)/python -m tools.demo $(if $(KEEP),--keep)

screenshots: dev  ## pictures of every page of the console, light, dark, wide, narrow, into build/screenshots
	@tools/test_packages.sh check all
	@$(VENV)/python -m tools.screenshots $(ARGS)

bench: bench-archive bench-balance bench-churn bench-predict bench-pages bench-dedup bench-distribution bench-hostcache bench-frontier bench-hostile bench-islands bench-lists bench-live bench-lying bench-manager bench-scope bench-shared bench-sitemaps bench-split bench-collection bench-console bench-crawl  ## all benchmarks, one after the other

bench-comparison: dev  ## a benchmark at an old commit and here, in turns; OLD=v1.0 BENCH=console ARGS="--only sqlite"
	$(VENV)/python -m benchmarks.comparison $(OLD) $(BENCH) --rounds $(or $(ROUNDS),1) -- $(ARGS)

bench-archive: dev  ## captures encoded a CPU-second, beside warcio's writer
	$(VENV)/python -m benchmarks.archive

bench-balance: dev  ## how even each balancer leaves the source's experiment; ARGS="--quick" for a look
	$(VENV)/python -m benchmarks.balance $(ARGS)

bench-pages: dev  ## the work on a page: here, in worker processes, and its lower limit
	$(VENV)/python -m benchmarks.pages $(ARGS)

bench-dedup: dev  ## seed 003's filters and ours: figures 5 to 10, table 1; ARGS="--links 4000000" for a quick look
	$(VENV)/python -m benchmarks.dedup $(ARGS)

bench-distribution: dev  ## segments through nginx, a selection over 10^7 index rows; ARGS="--rows 100000" for a quick look
	@tools/test_packages.sh check
	$(VENV)/python -m benchmarks.distribution $(ARGS)

bench-hostcache: dev  ## host names in memory: seed 000's figure 6, beside a dict
	$(VENV)/python -m benchmarks.hostcache $(ARGS)

bench-fetching: dev  ## what a page costs the process that fetches, without network; ARGS=--instructions counts them
	$(VENV)/python -m benchmarks.fetching $(ARGS)

bench-frontier: dev  ## what a URL costs, by how many are known; all hosts at an interval, in fake time and live; ARGS="--parts wheel live"
	@tools/test_packages.sh check
	$(VENV)/python -m benchmarks.frontier $(ARGS)

bench-shared: dev  ## sites behind addresses that many share: hosts an hour, requests a second; ARGS="--parts fake", "--parts live"
	$(VENV)/python -m benchmarks.shared_addresses $(ARGS)

bench-hostile: dev  ## how much later good hosts are done among hostile ones
	$(VENV)/python -m benchmarks.hostile $(ARGS)

bench-lists: dev  ## how long an agent's loop stands still while it takes a list; ARGS="--units 10000" for a quick look
	$(VENV)/python -m benchmarks.lists $(ARGS)

bench-islands: dev  ## pages that only other hosts link to: 4 agents, two rounds, all fetched; ARGS="--hosts 40"
	$(VENV)/python -m benchmarks.islands $(ARGS)

bench-live: dev  ## a random round and a balanced one by the clock: 8 agents, 400 hosts; ARGS="--seed 2"
	$(VENV)/python -m benchmarks.live $(ARGS)

bench-churn: dev  ## a live crawl while 8 agents come and go, beside an undisturbed one; ARGS="--quick" for a look
	$(VENV)/python -m benchmarks.churn $(ARGS)

bench-lying: dev  ## what one lying agent does to the plan, by each lie, in truth; ARGS="--quick" for a look, "--parts first" without history
	$(VENV)/python -m benchmarks.lying $(ARGS)

bench-manager: dev  ## 10,000 agents before one manager, and before two on PostgreSQL; ARGS="--quick" for a look
	@tools/test_packages.sh check
	$(VENV)/python -m benchmarks.manager $(ARGS)

bench-scope: dev  ## URLs decided by scope rules a CPU-second, beside loops of re; what a page's language costs
	$(VENV)/python -m benchmarks.scope $(ARGS)

bench-senders: dev  ## one hostile sender beside honest ones, and SIGTERM meanwhile; ARGS="--quick" or "--only comments,gone"
	$(VENV)/python -m benchmarks.senders $(ARGS)

bench-sitemaps: dev  ## sitemaps and feeds by our reader and by lxml: which URLs, how fast
	$(VENV)/python -m benchmarks.sitemaps

bench-split: dev  ## a host of 20,000 pages, by one agent and split among four; ARGS="--pages 3000" for a quick look
	$(VENV)/python -m benchmarks.split $(ARGS)

bench-collection: dev  ## 200 segments through a proxy that cuts and flips; ARGS="--segment-mib 4" for a quick look
	$(VENV)/python -m benchmarks.collection $(ARGS)

bench-console: dev  ## each page of the console, of a large crawl, on SQLite and PostgreSQL; ARGS="--only sqlite --hosts 10000 --lines 100000"
	@tools/test_packages.sh check
	$(VENV)/python -m benchmarks.console $(ARGS)

bench-predict: dev  ## how far off predicted distances are
	$(VENV)/python -m benchmarks.predict

bench-crawl: dev  ## ours, Scrapy and crawlee on the same pages; ARGS="--pages 3000" for a quick look
	@tools/bench_packages.sh
	$(VENV)/python -m benchmarks.crawl $(ARGS)
