//go:build linux

// Boot starts one worker of a job: a runner calls it by the contract of Beam's containers, as the command of a
// PROCESS environment or as the entrypoint of an image. With --worker_pool it is the service of an EXTERNAL
// environment, which calls it for each worker.
//
// It takes the place of Beam's own boot program, which two runners on one host cannot call at the same time,
// since both write the same files, and which leaves the worker and two copies of its binary behind. This one
// stages into a folder of the worker's own, ends the worker when it is ended itself or when the process that
// started it is gone, and removes the folder, in which the worker's temporary files are too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// The flags of Beam's container contract, https://s.apache.org/beam-fn-api-container-contract.
var (
	id        = flag.String("id", "", "`name` of the worker")
	provision = flag.String("provision_endpoint", "", "`address` of the provision service")
	logging   = flag.String("logging_endpoint", "", "`address` of the logging service; the provision service can name another one")
	artifacts = flag.String("artifact_endpoint", "", "`address` of the artifact service; the provision service can name another one")
	control   = flag.String("control_endpoint", "", "`address` of the control service; the provision service can name another one")
	_         = flag.String("semi_persist_dir", "", "`folder` for files that outlive a worker; not used")

	pool   = flag.Bool("worker_pool", false, "serve an EXTERNAL environment: start a worker for each request")
	listen = flag.String("listen", "localhost:50000", "`address` of --worker_pool; whoever reaches it can start programs here")
)

func main() {
	// A worker is killed with the thread that started it, and the main thread ends only with the process.
	runtime.LockOSThread()
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ctx, cancel := context.WithCancelCause(ctx)
	go func(parent int) {
		for os.Getppid() == parent {
			time.Sleep(500 * time.Millisecond)
		}
		cancel(errors.New("the process that started it has ended"))
	}(os.Getppid())
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "boot: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	switch {
	case *pool:
		return servePool(ctx, *listen)
	case *id == "":
		return errors.New("--id is not given: a runner starts this program, or --worker_pool serves one")
	case *provision == "":
		return errors.New("--provision_endpoint is not given: a runner starts this program, or --worker_pool serves one")
	}
	return runWorker(ctx)
}
