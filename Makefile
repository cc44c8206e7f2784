# Two doors: `make demo` to look around, `make test` to check everything. Both install what they need first.

# Shared by every checkout of this machine, so that a second clone does not build the dependencies again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/trainbill/target

# What is missing, and the packages that bring it.
define install
if ! command -v apt-get >/dev/null 2>&1; then \
	echo "error: $(1); install it and run make again" >&2; exit 1; \
fi; \
as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
$$as_root apt-get update -qq && \
$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(2)
endef

.DEFAULT_GOAL := help
.PHONY: help demo test test-live bench fmt prepare python servers

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: prepare ## build, write a small company's exports, import them and show its experiments
	cargo build --locked -p cli
	"$(CARGO_TARGET_DIR)/debug/trainbill" demo --no-serve

test: prepare python ## format, lints, tidy, every test, the totals of every bill by DuckDB
	cargo xtask ci

test-live: prepare python servers ## run jobs in a real Slurm with MLflow and Prometheus, and join what they recorded
	cargo xtask live

bench: prepare python ## time the attribution against its peers
	cargo xtask bench attribution

fmt: ## format the sources
	cargo fmt --all

prepare: ## install a C compiler if the machine has none
	@if ! command -v cargo >/dev/null 2>&1; then \
		echo "error: cargo is missing; install Rust from https://rustup.rs and run make again" >&2; exit 1; \
	fi
	@if ! command -v cc >/dev/null 2>&1; then \
		$(call install,no C compiler (cc),build-essential pkg-config); \
	fi

python: ## install Python with its venv module if the machine has none
	@if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then \
		$(call install,no Python 3 with its venv module,python3 python3-venv); \
	fi

servers: ## install Slurm, its database and Prometheus if the machine lacks one of them
	@for program in slurmctld slurmd slurmdbd munged mariadbd prometheus; do \
		PATH="$$PATH:/usr/sbin:/sbin" command -v $$program >/dev/null 2>&1 || missing="$$missing $$program"; \
	done; \
	if [ -n "$$missing" ]; then \
		$(call install,missing:$$missing,slurm-wlm slurmdbd munge mariadb-server prometheus); \
	fi
