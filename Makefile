# make            build; the command is build/kbass
# make demo       discover the van der Pol equations from ten noisy samples
# make check      build and run all tests
# make check-fresh     make demo, make check and make deb on bare Debians 12 and 13, as root
# make sanitize   build and run all tests with AddressSanitizer and UBSan
# make check-traces    compare what searches do, stage by stage, with what they did
# make check-laws      are the laws of a hundred data sets still found, and as fast; LAWS='--short', '--only "kdv*"'
# make python     build for Python: PYTHONPATH=python python3 -c 'import kbass'; docs/python.md
# make check-python    test the Python package with PYTHON (default /usr/bin/python3)
# make check-browser   load reports in a headless Chromium, narrow and wide
# make fuzz       fuzz every reader and parser for SECONDS each (default 60) with clang's libFuzzer
# make mpi        build kbass-mpi, the command for many machines (docs/cluster.md)
# make check-mpi  the same answers on 1, 2, 3 and 4 ranks
# make install    install under PREFIX (default /usr/local), below DESTDIR if given
# make deb        Debian packages of command, library and development files, in build/packages
# make docs       write docs/options.md and docs/constants.md anew from the tables
# make format     format the sources with clang-format
# make check-format   say which sources clang-format would change
# make clean      remove what was built

PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)
CMAKE_OPTIONS ?=
MAKEFLAGS += --no-print-directory

.PHONY: mpi check-mpi all packages test-packages demo check check-fresh sanitize check-browser fuzz check-traces check-laws python check-python \
        install deb docs format check-format clean

all: packages
	@cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_OPTIONS) > build.log 2>&1 \
	    || { cat build.log; exit 1; }
	@rm -f build.log
	@cmake --build build --parallel $(JOBS)

packages:
	@tools/install-packages.sh

test-packages:
	@tools/install-packages.sh --tests

demo: all
	@tools/demo.sh build/kbass

check: test-packages all
	@tools/run-tests build --parallel $(JOBS)

check-fresh:
	@tools/check-fresh $(PLAN)

sanitize: test-packages
	@cmake -S . -B build-sanitize -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKBASS_SANITIZE=ON $(CMAKE_OPTIONS)
	@cmake --build build-sanitize --parallel $(JOBS)
	@tools/run-tests build-sanitize --parallel $(JOBS)

check-browser: all
	@tools/install-packages.sh chromium gnuplot-nox fonts-dejavu-core
	@tools/check-browser build/kbass

fuzz:
	@tools/install-packages.sh clang libomp-dev
	@tools/fuzz.sh $(or $(SECONDS),60)

check-traces: all
	@tools/check-traces

check-laws: all
	@tools/check-laws $(LAWS)

python: all
	@PYTHONPATH=python $(PYTHON) -c 'import kbass; print("kbass", kbass.__version__, "works from PYTHONPATH=python")'

python_packages = python3 python3-venv python3-pip python3-numpy python3-pandas python3-xarray python3-sklearn \
                  python3-matplotlib python3-joblib python3-tqdm python3-sympy python3-pytest python3-hypothesis \
                  python3-nbclient python3-nbformat python3-ipykernel mypy gnuplot-nox

check-python: all
	@tools/install-packages.sh $(python_packages)
	@PYTHONPATH=python $(PYTHON) -m pytest python/tests $(PYTEST_OPTIONS)

mpi:
	@tools/install-packages.sh libopenmpi-dev openmpi-bin
	@$(MAKE) all CMAKE_OPTIONS="$(CMAKE_OPTIONS) -DKBASS_MPI=ON"

check-mpi: mpi
	@tools/check-mpi build

install: all
	@DESTDIR=$(DESTDIR) cmake --install build

deb:
	@tools/install-packages.sh dpkg-dev file
	@$(MAKE) all PREFIX=/usr
	@rm -rf build/packages
	@cd build && cpack -B packages > packages.log || { cat packages.log; exit 1; }
	@rm -rf build/packages/_CPack_Packages
	@ls build/packages/*.deb

docs: all
	@build/kbass help --markdown > docs/options.md
	@(build/tests/constants && tools/list-constants) > docs/constants.md

sources = include/kbass/*.h src/*.c src/*/*.[ch] src/*/*/*.[ch] helper/*.[ch] cluster/*.c cli/*.[ch] cli/*/*.[ch] examples/*.c tests/*.[ch] tests/fuzz/*.[ch]

format:
	@clang-format -i $(sources)

check-format:
	@tools/install-packages.sh --only clang-format
	@clang-format --dry-run -Werror $(sources)

clean:
	@rm -rf build build-sanitize build-clang build-fuzz build-fresh
