# `make` without a target lists the targets.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT  ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
CRANE       ?= github.com/google/go-containerregistry/cmd/crane@v0.22.1
CYCLONEDX   ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
GORELEASER  ?= github.com/goreleaser/goreleaser/v2@v2.15.1
TIMEOUT     ?= 14m
BIN         ?= bin
PYTHON      ?= python3
PACKAGES    ?= ./...

# Without symbol tables and debug information, test binaries take a third less time to link, which for
# most packages with Beam is longer than their tests take. Stack traces and profiles do not change.
TESTFLAGS   ?= -ldflags='-s -w'

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## run the commands from preprocess to report on a small sample graph (go run ./pipelines/quickstart)
	$(GO) run ./pipelines/quickstart

.PHONY: test
test: ## all tests (PACKAGES=./model/... for some of them)
	$(GO) test $(TESTFLAGS) -timeout $(TIMEOUT) $(PACKAGES)

.PHONY: test-flink
test-flink: ## the commands on a Flink with two TaskManagers, some of which are killed (needs Java and Maven; about 5 minutes)
	TAGNET_FLINK=1 $(GO) test $(TESTFLAGS) -count 1 -v -timeout 40m ./infra/flink ./infra/image

.PHONY: race
race: ## all tests with the race detector
	$(GO) test -race $(TESTFLAGS) -timeout 40m $(PACKAGES)

.PHONY: arm64
arm64: ## the model's tests on an emulated arm64, about 15 minutes (needs qemu-user-static)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -timeout 60m -exec qemu-aarch64-static ./model/...

# Without a limit, minimizing the first interesting input takes longer than the target has.
.PHONY: fuzz
fuzz: ## each fuzz target for ten seconds
	@for package in $$($(GO) list $(PACKAGES)); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 10s -fuzzminimizetime 10x $$package || exit 1; \
		done; \
	done

.PHONY: lint
lint: ## formatting, vet (on arm64 too), staticcheck, actionlint and the repository's own rules
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
		if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	GOARCH=arm64 $(GO) build ./model ./model/gpu/cuda
	GOARCH=arm64 $(GO) vet ./model/engine/kernel ./model/gpu/cuda # which have files for one architecture
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT)
	$(GO) test -count 1 ./infra/lint

GOLDEN = ask bundle discover probabilities preprocess quickstart score study train

.PHONY: golden
golden: ## rewrite the golden Beam graphs and the tables of flags in pipelines/README.md and pipelines/*/README.md
	$(GO) test -run 'Test(Distances|Messages)?Graph(s|sOfFacts)?$$|TestReference' $(GOLDEN:%=./pipelines/internal/%) -update_golden

# Static and without symbols, so that a worker starts on any Linux and is quick to copy. The same source gives the same bytes.
.PHONY: worker
worker: ## build the programs of a cluster's workers, bin/boot and bin/worker (GOARCH=arm64 for ARM)
	CGO_ENABLED=0 GOOS=linux $(GO) build -trimpath -buildvcs=false -ldflags='-s -w' -o $(BIN)/ ./infra/worker ./infra/worker/boot

# GNU tar. Names, owners, modes and times are fixed: equal programs give an equal image.
.PHONY: image
image: worker ## write bin/image.tar, the files of the workers' image (docker build -f infra/image/Dockerfile bin)
	rm -rf $(BIN)/image
	install -d -m 755 $(BIN)/image/opt/apache/beam
	install -d -m 1777 $(BIN)/image/tmp
	install -m 755 $(BIN)/boot $(BIN)/worker $(BIN)/image/opt/apache/beam
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C $(BIN)/image -cf $(BIN)/image.tar opt tmp

# SOURCE is the address of the repository, for the labels of the image.
VERSION       ?= $(shell git describe --tags --always --dirty)
ARCHITECTURES ?= amd64 arm64

.PHONY: tagnet-image
tagnet-image: $(BIN)/crane ## write bin/tagnet-image, the image of tagnet as an OCI layout, without Docker (ARCHITECTURES=amd64 for one of two)
	for architecture in $(ARCHITECTURES); do \
		CGO_ENABLED=0 GOOS=linux GOARCH=$$architecture $(GO) build -trimpath -buildvcs=false -tags nocuda \
			-ldflags='-s -w -X main.release=$(VERSION)' -o $(BIN)/tagnet-$$architecture ./pipelines/tagnet || exit 1; \
	done
	infra/image/tagnet.sh $(BIN)/crane $(BIN) $(VERSION) $(ARCHITECTURES)

$(BIN)/crane: Makefile
	GOBIN=$(abspath $(BIN)) $(GO) install $(CRANE)

.PHONY: release-tools
release-tools:
	GOBIN=$(abspath $(BIN)) $(GO) install $(GORELEASER)
	GOBIN=$(abspath $(BIN)) $(GO) install $(CYCLONEDX)

.PHONY: release-check
release-check: release-tools ## build what a release has, for all platforms, into bin/release, and publish nothing
	$(BIN)/goreleaser check
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/goreleaser release --snapshot --clean

.PHONY: release
release: release-tools ## the same for the tag of this commit; the release workflow publishes bin/release
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/goreleaser release --clean

.PHONY: flink
flink: worker ## start Flink here, a JobManager and two TaskManagers, and print how to use it (needs Java and Maven)
	$(GO) run ./infra/flink start --folder $(BIN)/flink --programs $(BIN)

.PHONY: flink-stop
flink-stop: ## stop it
	$(GO) run ./infra/flink stop --folder $(BIN)/flink

# The environment has ruff and the other tools that infra/python/pyproject.toml names; PYTEST=--rewrite keeps the notebook's outputs.
.PHONY: python
python: ## check the Python package: its tests, notebook, generated client and formatting (needs python3 with venv; environment in bin/python)
	$(GO) build $(TESTFLAGS) -o $(BIN)/ ./pipelines/tagnet
	test -x $(BIN)/python/bin/pip || $(PYTHON) -m venv $(BIN)/python
	$(BIN)/python/bin/pip install --quiet './infra/python[test]'
	$(BIN)/python/bin/ruff format --check infra/python
	$(BIN)/python/bin/ruff check infra/python
	TAGNET_BINARY=$(abspath $(BIN))/tagnet $(BIN)/python/bin/pytest --quiet $(PYTEST) infra/python

.PHONY: results
results: ## write RESULTS.md with its figures, ZEROSHOT.md, FRONTIER.md, BENCHMARKS.md and TRUTH.md in infra, and the table of train --minutes
	$(GO) run ./infra/experiments/tables

.PHONY: generate
generate: ## regenerate the assembly kernels
	$(GO) generate ./model/...

# NVIDIA's compiler comes as Python packages for Linux on x86-64, which pip downloads once.
PTX = $(BIN)/cuda/bin/python infra/ptx/ptx.py
$(BIN)/cuda/installed: infra/ptx/requirements.txt
	$(PYTHON) -m venv $(BIN)/cuda
	$(BIN)/cuda/bin/pip install --quiet --no-deps --only-binary=:all: --require-hashes --requirement $<
	touch $@

.PHONY: ptx
ptx: $(BIN)/cuda/installed ## compile the CUDA kernels to PTX (linux/amd64; needs python3 with venv)
	$(PTX)
	$(PTX) --local --kernels model/gpu/interpreter/testdata

# Generated files are removed first, so that one which is no longer generated shows as deleted. PTX is compiled into memory, and compared
# with that in the archive.
.PHONY: current
current: $(BIN)/cuda/installed ## fail if the committed kernels, PTX, or the pages of results differ from what is generated, or a CUDA kernel spills
	git ls-files -z model | xargs -0 grep -lE '^// Code generated .* DO NOT EDIT\.$$' | xargs rm -f
	$(MAKE) --no-print-directory generate
	git diff --exit-code -- model
	@untracked=$$(git ls-files --others --exclude-standard -- model/engine/kernel); \
		if [ -n "$$untracked" ]; then echo "generated, but not committed: $$untracked"; exit 1; fi
	$(PTX) --check
	$(PTX) --check --local --kernels model/gpu/interpreter/testdata
	$(GO) run ./infra/experiments/tables --check

# go-licenses cannot be installed by its version where only a proxy is reached, so a module of its own names it. It knows Go's own
# packages by the folder that -trimpath leaves out.
.PHONY: licenses
licenses: $(BIN)/go-licenses ## rewrite THIRD_PARTY_LICENSES, the licenses of what the programs link
	$(GO) run ./infra/licenses --tool $(abspath $(BIN))/go-licenses

.PHONY: licenses-check
licenses-check: $(BIN)/go-licenses ## fail if it is not current, or a program links something under another license than those allowed
	$(GO) run ./infra/licenses --tool $(abspath $(BIN))/go-licenses --check

$(BIN)/go-licenses: infra/licenses/tool/go.mod
	$(GO) build -C infra/licenses/tool -trimpath=false -o $(abspath $(BIN))/go-licenses github.com/google/go-licenses/v2

# -e leaves out those whose versions the proxy does not list.
.PHONY: outdated
outdated: ## list the direct dependencies that have newer versions
	@$(GO) list -m -f '{{if not (or .Main .Indirect .Replace)}}{{.Path}}{{end}}' all | xargs $(GO) list -e -m -u -f '{{with .Update}}{{$$.Path}} {{$$.Version}} -> {{.Version}}{{end}}'
	@echo "instead of github.com/apache/arrow/go/v15: $$($(GO) list -m github.com/apache/arrow-go/v18@latest)"

.PHONY: bench
bench: ## Go's benchmarks of the model (PACKAGES=./model/engine/kernel for one package)
	$(GO) test -run '^$$' -bench . -benchmem $(if $(filter ./...,$(PACKAGES)),./model/...,$(PACKAGES))

.PHONY: clean
clean: ## remove the default workspace
	rm -rf workspace
