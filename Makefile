# make run   builds everything and runs the flagship scenario
# make test  builds everything and runs every check

.PHONY: run test web clean

run: web
	cargo build --release --package longhaul
	target/release/longhaul run scenarios/two-providers.toml

test: web
	@sh xtask/tools.sh test
	cargo xtask check

# The pages, which are compiled into the program.
PAGES := web/dist/report.html web/dist/figures.html
web: $(PAGES)

WEB_SOURCES := $(shell find web/src -type f) web/report.html web/figures.html web/package.json web/package-lock.json web/tsconfig.json web/vite.config.ts

$(PAGES) &: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && npm run --silent build

web/node_modules/.package-lock.json: web/package-lock.json
	@sh xtask/tools.sh run
	cd web && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

clean:
	rm -rf target out web/dist web/node_modules
