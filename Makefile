# fiord: make help lists the targets.
GO    ?= go
FUZZ  ?= 10s
FIO   ?= fio
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

export CGO_ENABLED = 0

.PHONY: help build run test test-nvme instructions race lint fuzz bench bench-fio bench-rate cover docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## build the static binary ./fiord
	$(GO) build -trimpath -buildvcs=false -o fiord .

run: build ## run examples/quick.fio on a temporary file
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && ./fiord --directory="$$dir" examples/quick.fio

test: ## run all tests
	$(GO) test ./...

test-nvme: ## run the tests that need NVMe drives, in a virtual machine (root on Debian: installs qemu)
	FIORD_NVME=1 FIO=$(FIO) $(GO) test -count=1 -v -timeout 60m ./test/nvme

instructions: ## compare the instructions of an I/O with the recorded ones (needs valgrind); INSTRUCTIONS=-update records them
	FIORD_INSTRUCTIONS=1 $(GO) test -count=1 -v ./test/instructions $(INSTRUCTIONS)

race: ## run all tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

fuzz: ## run each fuzz target for FUZZ (10s)
	@FUZZ=$(FUZZ) GO=$(GO) test/fuzz.sh

bench: bench-fio ## bench-fio, then the Go benchmarks
	@$(GO) test -run '^$$' -bench . -benchmem -benchtime 200ms ./... | grep -v '^ok\|no test files\|^PASS'

bench-fio: build ## fiord and fio (FIO) in turns on the same jobs; PEAK=path/to/t/io_uring adds fiord peak, BENCH flags
	@FIO=$(FIO) PEAK=$(PEAK) $(GO) run ./test/bench $(BENCH) ./fiord

bench-rate: build ## how exactly fiord and fio (FIO) hold the rates that a job asks for
	@FIO=$(FIO) $(GO) run ./test/benchrate ./fiord

cover: ## total statement coverage, the commands that tests run included
	@out=$$($(GO) test -coverpkg=./... -coverprofile=cover.out ./...) || { echo "$$out"; exit 1; }
	@$(GO) tool cover -func=cover.out | tail -1

docs: ## write docs/options.md from the declarations
	$(GO) run ./test/options >docs/options.md

clean: ## remove what the other targets made
	rm -f fiord fiord-arm64 cover.out
