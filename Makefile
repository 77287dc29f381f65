# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The two commands a newcomer needs are `make demo` and `make check`. `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup build model demo check check-full bench format docs install package clean

BUILD  ?= build
PRESET ?= release
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
PROMPT ?= The capital of France is
STEP   := tools/step

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-19s%s\n", $$1, $$2 }'
	@echo
	@echo "  JOBS=$(JOBS)  BUILD=$(BUILD)  PRESET=$(PRESET)  (override on the command line)"

setup: ## install what is missing (apt, and pip into .venv); does nothing when all is there
	@$(STEP) "Checking what is installed" tools/setup

$(BUILD)/build.ninja: CMakePresets.json
	@$(STEP) "Configuring ($(PRESET))" cmake --preset $(PRESET) -B $(BUILD) -G Ninja

build: setup $(BUILD)/build.ninja ## build everything into build/
	@$(STEP) "Building" ninja -C $(BUILD) -j$(JOBS)

model: setup ## fetch the small model that the demo and some tests use, into the cache
	@$(STEP) "Fetching the model" tools/fetch-model

demo: build model ## compile a small model ahead of time and let it write text
	@$(STEP) "Importing the model" $(BUILD)/bin/tilewright import "$$(tools/fetch-model --print)" -o $(BUILD)/demo.twg
	@$(STEP) "Compiling the model" $(BUILD)/bin/tilewright compile $(BUILD)/demo.twg -o $(BUILD)/demo --weights-dir "$$(dirname "$$(tools/fetch-model --print)")"
	@$(STEP) "Writing text" $(BUILD)/bin/tilewright generate $(BUILD)/demo --prompt "$(PROMPT)" --max-tokens 64

check: build ## every test: lit, GoogleTest (through ctest), layout
	@tools/fetch-model --quiet || echo "    The tests that need the model will be reported as not run."
	@$(STEP) "Testing" tests/run-tests --build $(BUILD) --jobs $(JOBS)

check-full: build ## check, then sanitizers, each plugin left out in turn, fuzzing; resumes where it stopped
	@$(STEP) "Checking everything" tests/check-full --jobs $(JOBS)

bench: build model ## measure this build on the small model
	@$(STEP) "Compiling the model" $(BUILD)/bin/tilewright compile "$$(tools/fetch-model --print)" -o $(BUILD)/bench
	@$(STEP) "Measuring" $(BUILD)/bin/tilewright bench $(BUILD)/bench --prefill 512 --decode 128 --threads $(JOBS)

format: ## format C++ sources in place
	@$(STEP) "Formatting" tools/format

docs: setup $(BUILD)/build.ninja ## regenerate docs/dialects and docs/families from the definitions of dialects and families
	@$(STEP) "Writing docs/dialects" ninja -C $(BUILD) tilewright_dialect_docs_update
	@$(STEP) "Writing docs/families" python3 tests/docs/family_docs.py . --update

install: build ## install into PREFIX (default /usr/local)
	@$(STEP) "Installing into $(PREFIX)" cmake --install $(BUILD) --prefix $(PREFIX)

package: build ## pack a Debian package into BUILD
	@$(STEP) "Packing" cpack --config $(BUILD)/CPackConfig.cmake -B $(BUILD)/package

clean: ## remove every build folder (the model cache stays)
	@rm -rf build build-* && echo "Removed build folders."
