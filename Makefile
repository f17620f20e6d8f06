# Two commands: `make demo` runs the gallery, `make test` runs every test; both do all set-up. `make help` lists the rest.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard tests/fuzz/*.cpp)))
OUT ?= out

# Lets ccache share results between build folders and clones.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := true

.DEFAULT_GOAL := build
.PHONY: build everything setup debug clang asan tsan test validate demo bench check format-check generated-check tidy \
        behaviours floors format fuzz night install clean help

# Configures the preset $(1) where that has not been done, then builds $(2) (everything if empty).
define build_preset
@[ -f build/$(1)/build.ninja ] || cmake --preset $(1) $(3) >/dev/null
@cmake --build build/$(1) -j $(JOBS) $(if $(2),--target $(2))
endef

build: setup ## Build the library, the command and the gallery: build/release/bin/heaviside
	$(call build_preset,release,heaviside heaviside_command gallery)

everything: setup ## Build the tests as well
	$(call build_preset,release)

setup: ## Install what is needed (says what; does nothing when all is there)
	@scripts/setup

demo: setup ## Run the gallery: PNG frames in out/gallery (WINDOW=1 opens a window)
	$(call build_preset,release,gallery)
	@build/release/bin/gallery --out $(OUT)/gallery $(if $(WINDOW),--window)

test: everything ## Run every test; the last line counts them
	@scripts/run-tests build/release

validate: everything ## Run the GPU tests again under the Khronos validation layer; one message fails
	@scripts/run-tests build/release --validate

debug: setup ## Build with debug information: build/debug
	$(call build_preset,debug)

clang: setup ## Build with Clang: build/release-clang
	$(call build_preset,release-clang)

night: everything ## 20,000 generated programs of all stages, interpreter against device; PROGRAMS=N for fewer
	@scripts/night build/release $(or $(PROGRAMS),20000)

asan: setup ## Run the tests under address and undefined-behaviour sanitizers
	$(call build_preset,asan-ubsan)
	@HEAVISIDE_SEEDS=1000-1040 scripts/run-tests build/asan-ubsan # generated programs are slow under the sanitizers

tsan: setup ## Run the tests of threaded floors under the thread sanitizer
	$(call build_preset,tsan)
	@scripts/run-tests build/tsan --floors base,guest,stream,nvn,gpu,replay,present,api

fuzz: setup ## Fuzz FUZZ_TARGETS (default every parser) for FUZZ_SECONDS each (default 30)
	$(call build_preset,fuzz,$(FUZZ_TARGETS:%=fuzz_%))
	@scripts/run-fuzzers build/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

bench: setup ## Measure: figures and how to read them in docs/performance.md
	$(call build_preset,bench,benchmarks)
	@scripts/run-benchmarks build/bench

check: floors generated-check format-check behaviours tidy ## All source checks

floors: ## Includes only go down, sizes, names
	@scripts/check-floors

generated-check: ## Generated sources are what their generators write
	@for generator in scripts/generate-*; do "$$generator" --check || exit 1; done

behaviours: ## The list of required behaviours: counts, and that every named test exists
	@scripts/behaviours

format: setup ## Format all sources
	@scripts/sources | xargs clang-format -i

format-check: setup ## Fail if a source is not formatted
	@scripts/sources | xargs clang-format --dry-run -Werror

tidy: setup ## clang-tidy over all sources
	$(call build_preset,debug-clang,generated)
	@scripts/sources '*.cpp' | scripts/tidy build/debug-clang

install: build ## Install under PREFIX (default /usr/local; DESTDIR honoured)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## Remove all that was built (what setup unpacked stays)
	@rm -rf build $(OUT)

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
