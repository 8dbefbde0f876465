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
	set.Int64Var(memory, "memory", budget.Default,
		"`MiB` that a worker process may use, 1 or more, Go and Beam included; unused memory enlarges the units of work")
}

// CheckMemory returns an error if a budget is not a number of MiB.
func CheckMemory(memory int64) error {
	const most = math.MaxInt64 / budget.MiB
	if memory < 1 || memory > most {
		return FlagError("memory", memory, fmt.Sprintf("1 to %d MiB", int64(most)))
	}
	return nil
}

// Allot divides --memory by an estimate. Where threads is 0 it takes as many as fit, at most one per
// core, and tells the user once if those are fewer. A budget that is too small is a UsageError.
func (e *Environment) Allot(estimate budget.Estimate, memory int64, threads int) (budget.Allotment, error) {
	cores := runtime.GOMAXPROCS(0)
	a, err := estimate.Allot(memory*budget.MiB, threads, cores)
	var small *budget.TooSmall
	if errors.As(err, &small) {
		remedy := fmt.Sprintf("give --memory %d", small.Least/budget.MiB)
		if small.Threads > 1 && e.has("threads") {
			remedy += " or fewer --threads"
		}
		if e.has("reach") {
			remedy += ", or a --reach that covers less of the graph"
		}
		return a, &UsageError{Text: fmt.Sprintf("--memory %d is too small: %v; %s", memory, small, remedy), Reason: small}
	}
	if err == nil && threads == 0 && a.Threads < cores && a.Threads != e.threads {
		e.threads = a.Threads
		e.Say("--memory %d is enough for %d of %d threads; results do not change", memory, a.Threads, cores)
	}
	return a, err
}

func (e *Environment) has(flag string) bool { return e.Flags != nil && e.Flags.Lookup(flag) != nil }
