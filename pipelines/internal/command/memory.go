package command

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime"

	"tagnet/model/budget"
)

// Memory registers --memory, the budget of a worker process in MiB.
func Memory(set *flag.FlagSet, memory *int64) {
	set.Int64Var(memory, "memory", budget.Default, "`MiB` that a worker process may use, Go and Beam included; unused memory enlarges the units of work")
}

// CheckMemory returns an error if a budget is no number of MiB.
func CheckMemory(memory int64) error {
	const most = math.MaxInt64 / budget.MiB
	if memory < 1 || memory > most {
		return FlagError("memory", memory, fmt.Sprintf("1 to %d MiB", int64(most)))
	}
	return nil
}

// Divide divides --memory. Where threads is 0 there
// are as many as it holds, one a core at most, and it is said where that makes them fewer. A
// budget that is too small is a mistake in the flags.
func (e *Environment) Divide(need budget.Need, memory int64, threads int) (budget.Share, error) {
	cores := runtime.GOMAXPROCS(0)
	share, err := need.Divide(memory*budget.MiB, threads, cores)
	var small *budget.TooSmall
	if errors.As(err, &small) {
		return share, FlagError("memory", memory, small.Error())
	}
	if err == nil && threads == 0 && share.Threads < cores && share.Threads != e.threads {
		e.threads = share.Threads
		e.Say("%s: --memory %d MiB holds no more for %d cores; nothing else changes", counted(share.Threads, "thread"), memory, cores)
	}
	return share, err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
