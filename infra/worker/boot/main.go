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
	"io"
	"os"
	"os/exec"
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

// supervised in the environment marks the process that runs the worker.
const supervised = "TAGNET_BOOT_SUPERVISED"

func main() {
	// A worker is killed with the thread that started it, and the main thread ends only with the process.
	runtime.LockOSThread()
	flag.Parse()
	var err error
	switch {
	case *pool:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		err = servePool(ctx, *listen)
		stop()
	case *id == "" || *provision == "":
		err = errors.New("--id or --provision_endpoint is not given: a runner starts this program, or --worker_pool serves one")
	case os.Getenv(supervised) == "":
		err = supervise()
	default:
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			io.Copy(io.Discard, os.Stdin) // until the process that supervise runs in ends, however it does
			cancel()
		}()
		err = runWorker(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "boot: %v\n", err)
		os.Exit(1)
	}
}

// supervise runs this program again, as the process that runs the worker, in a session of its own. Flink kills what it
// started half a second after it asked it to end, and on a busy host that is not enough to clean up: only this process
// is killed then, and the other one notices.
func supervise() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	runner := os.Getppid()
	c := exec.Command(self, os.Args[1:]...)
	c.Env = append(os.Environ(), supervised+"=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	life, err := c.StdinPipe()
	if err != nil {
		return err
	}
	defer life.Close()
	if err := c.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", self, err)
	}
	go func() {
		for os.Getppid() == runner {
			time.Sleep(500 * time.Millisecond)
		}
		life.Close() // nobody ends the worker of a TaskManager that was killed
	}()
	var failed *exec.ExitError
	if err := c.Wait(); errors.As(err, &failed) {
		os.Exit(1) // it has printed why
	} else if err != nil {
		return fmt.Errorf("waiting for %s: %w", self, err)
	}
	return nil
}
