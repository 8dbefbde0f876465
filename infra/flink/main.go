// Flink starts and stops a Flink cluster on this machine, with the job server that takes jobs from Beam.
//
//	go run ./infra/flink start --folder bin/flink
//	go run ./infra/flink stop --folder bin/flink
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		arguments = []string{""}
	}
	flags := flag.NewFlagSet("flink "+arguments[0], flag.ExitOnError)
	folder := flags.String("folder", "bin/flink", "`folder` of the cluster's logs and files")
	switch arguments[0] {
	case "stop":
		flags.Parse(arguments[1:])
		absolute, err := filepath.Abs(*folder)
		if err != nil {
			return fmt.Errorf("--folder: %w", err)
		}
		running, err := Running(absolute)
		if err != nil {
			return err
		}
		fmt.Printf("stopping %d processes of the cluster in %s\n", len(running), absolute)
		return Stop(absolute)
	case "start":
		c := &Cluster{Ports: DefaultPorts}
		flags.IntVar(&c.TaskManagers, "taskmanagers", 2, "number of TaskManagers")
		flags.IntVar(&c.Slots, "slots", 1, "slots of each TaskManager")
		free := flags.Bool("free_ports", false, "use free ports instead of Flink's and Beam's own")
		programs := flags.String("programs", "bin", "`folder` with the worker and boot programs that make worker built")
		flags.Parse(arguments[1:])
		return start(ctx, c, *folder, *programs, *free)
	}
	return fmt.Errorf("the command is %q; want start or stop (go run ./infra/flink start -h)", arguments[0])
}

// start starts a cluster and prints how to use it.
func start(ctx context.Context, c *Cluster, folder, programs string, free bool) (err error) {
	if c.TaskManagers < 1 || c.Slots < 1 {
		return fmt.Errorf("--taskmanagers is %d, --slots is %d; want at least 1 of each", c.TaskManagers, c.Slots)
	}
	if c.Folder, err = filepath.Abs(folder); err != nil {
		return fmt.Errorf("--folder: %w", err)
	}
	if programs, err = filepath.Abs(programs); err != nil {
		return fmt.Errorf("--programs: %w", err)
	}
	if free {
		if c.Ports, err = FreePorts(); err != nil {
			return err
		}
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	fmt.Printf("endpoint: %s\n", c.Endpoint())
	fmt.Printf("Flink:    %s (%d TaskManagers, %d slots)\n", c.REST(), c.TaskManagers, c.TaskManagers*c.Slots)
	fmt.Printf("warning:  Beam opens its ports (%d, %d, and those of TaskManagers while jobs run) on all addresses: whoever reaches them runs programs "+
		"here, unless a firewall keeps them out\n",
		c.Ports.Jobs, c.Ports.Artifacts)
	fmt.Printf("logs:     %s\n", filepath.Join(c.Folder, "log"))
	fmt.Printf("flags:   ")
	for _, f := range c.Flags(programs) {
		if strings.ContainsAny(f, `" `) {
			f = "'" + f + "'"
		}
		fmt.Printf(" %s", f)
	}
	fmt.Println()
	return nil
}
