# SPDX-License-Identifier: BSD-3-Clause
# The face of the project: `make` prints what there is. Every target sets up what it needs by itself.

PYTHON ?= python3
JOBS ?= $(shell nproc)

venv := $(CURDIR)/.venv
setup := $(PYTHON) scripts/setup.py
export PATH := $(venv)/bin:$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
# Open MPI's launcher refuses to run as root, or more ranks than cores, unless told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PRTE_ALLOW_RUN_AS_ROOT := 1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := true
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe

sources := $(shell find CMakeLists.txt pyproject.toml cmake include rondo apps testbed python tuning tests \
    -name __pycache__ -prune -o -name '*.py' -path 'tests/*' -prune -o \
    \( -type d -o -name '*.?pp' -o -name '*.c' -o -name '*.h' -o -name '*.map' -o -name '*.cmake' -o -name '*.txt' -o -name '*.toml' \
       -o -name '*.py' -o -name '*.rules' -o -name '*.css' -o -name '*.js' \) -print 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo install test sanitize lint bench docs clean distclean environment debian

help:  ## print this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

demo: install  ## an unmodified MPI program without and with Rondo; MPICC=/path/to/mpicc picks your own MPI
	@python scripts/demo.py $(if $(MPICC),--mpicc '$(MPICC)')

install: environment $(venv)/.stamps/install  ## build everything and install the package into .venv

test: install debian  ## C++ tests, the same under sanitizers, Python and MPI tests
	ctest --preset release
	$(MAKE) --no-print-directory sanitize
	@cmake --preset threads > build/threads.log 2>&1 || { cat build/threads.log; exit 1; }
	cmake --build --preset threads
	python -m pytest tests

sanitize: environment debian
	@cmake --preset sanitize > build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }
	cmake --build --preset sanitize
	ctest --preset sanitize

lint: environment  ## formatting and static checks of C++ and Python
	@$(setup) lint
	@python scripts/lint.py

bench: install  ## build and run the benchmarks
	@mkdir -p build && { cmake --preset bench > build/bench.log 2>&1 || { cat build/bench.log; exit 1; }; }
	cmake --build --preset bench
	@set -e; for program in build/bench/benchmarks/*_benchmark; do \
	   [ -x "$$program" ] || continue; echo "== $${program##*/}"; "$$program"; done
	@set -e; for script in tests/benchmarks/*.py; do \
	   [ -f "$$script" ] || continue; echo "== $${script##*/}"; python "$$script"; done

docs: install  ## check and generate the documentation
	@if [ -f scripts/docs.py ]; then python scripts/docs.py; else echo 'docs: scripts/docs.py does not exist yet'; fi

clean:  ## remove what was built; .venv and .toolchain stay (make distclean removes them)
	rm -rf build dist
	rm -f $(venv)/.stamps/install

distclean: clean
	rm -rf .venv .toolchain

environment:
	@$(setup) environment

debian:
	@$(setup) debian

$(venv)/.stamps/install: $(sources) scripts/setup.py
	@$(setup) mpi
	@$(setup) debian
	@$(setup) install --jobs $(JOBS)
	@touch $@
