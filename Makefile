# make run   builds everything and runs the main scenario
# make test  builds everything and runs every check
# make dist  builds the release files: a static program, a Debian package, manual pages, completions
# make docs  builds the documentation as a book: target/book/index.html

.PHONY: run said test crates pages dist docs web clean

run: said web
	cargo build --profile quick-build --package longhaul
	target/quick-build/longhaul run scenarios/two-providers.toml

said:
	@echo "make run: builds the program (about 5 minutes on two cores the first time), then measures for a minute"

# Clippy as the compiler of the workspace: each crate is compiled once, for lints and for the tests.
test: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test: export CLIPPY_ARGS := -Dwarnings__CLIPPY_HACKERY__
test: web
	@sh xtask/tools.sh test
	@echo "make test: compiles everything (about 12 minutes on two cores the first time), then runs 7 steps (about 18 minutes)"
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target crates pages
	target/debug/xtask check built

# One build of everything: a build of fewer crates enables fewer features, so most crates would be built twice.
crates:
	cargo build --quiet --workspace --all-targets

# Browser tests of the pages, while the crates are compiled.
pages:
	cd web && npm test --silent

dist: web
	cargo xtask dist

# The documentation as a book, by an installed mdbook or one in target.
MDBOOK := $(or $(shell command -v mdbook 2>/dev/null),target/mdbook/bin/mdbook)
docs: $(MDBOOK)
	@$(MDBOOK) build docs
	@echo "the documentation: target/book/index.html"

target/mdbook/bin/mdbook:
	@echo "installing mdbook into target/mdbook (a few minutes)"
	cargo install mdbook --version 0.5.4 --locked --quiet --root target/mdbook

# The pages that are compiled into the program.
PAGES := web/dist/report.html web/dist/figures.html web/dist/speed.html web/dist/speed.js web/dist/speed.css web/dist/operator.html web/dist/operator.js web/dist/operator.css
web: $(PAGES)

WEB_SOURCES := $(shell find web/src -type f) web/report.html web/figures.html web/speed.html web/operator.html web/package.json web/package-lock.json web/tsconfig.json web/vite.config.ts

$(PAGES) &: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && npm run --silent build

web/node_modules/.package-lock.json: web/package-lock.json
	@sh xtask/tools.sh run
	cd web && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

clean:
	rm -rf target out web/dist web/node_modules
