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
	set.Int64Var(memory, "memory", budget.Default, "`MiB` that a worker process may use, 1 or more, Go and Beam included; unused memory enlarges the units of work")
}

// CheckMemory returns an error if a budget is not a number of MiB.
func CheckMemory(memory int64) error {
	const most = math.MaxInt64 / budget.MiB
	if memory < 1 || memory > most {
		return FlagError("memory", memory, fmt.Sprintf("1 to %d MiB", int64(most)))
	}
	return nil
}

// Plan divides --memory by an estimate. Where threads is 0 it plans as many as fit, at most one per
// core, and tells the user once if those are fewer. A budget that is too small is a UsageError.
func (e *Environment) Plan(estimate budget.Estimate, memory int64, threads int) (budget.Plan, error) {
	cores := runtime.GOMAXPROCS(0)
	plan, err := estimate.Plan(memory*budget.MiB, threads, cores)
	var small *budget.TooSmall
	if errors.As(err, &small) {
		return plan, e.TooSmall(memory, small)
	}
	if err == nil && threads == 0 && plan.Threads < cores && plan.Threads != e.threads {
		e.threads = plan.Threads
		e.Say("--memory %d is enough for %d of %d threads; results do not change", memory, plan.Threads, cores)
	}
	return plan, err
}

// TooSmall returns the UsageError of a --memory that is less than an estimate, which wraps small.
func (e *Environment) TooSmall(memory int64, small *budget.TooSmall) error {
	remedy := fmt.Sprintf("give --memory %d", small.Least/budget.MiB)
	if e.Flags != nil && small.Threads > 1 && e.Flags.Lookup("threads") != nil {
		remedy += " or fewer --threads"
	}
	return &UsageError{Text: fmt.Sprintf("--memory %d is too small: %v; %s", memory, small, remedy), Reason: small}
}

// OrBundles adds to the error of a --memory that is too small, if err is one, that --bundles needs less.
func OrBundles(err error) error {
	return or(err, func(*budget.TooSmall) string {
		return "find the parts of the graph with bundle and add --bundles, which holds no graph"
	})
}

// SuggestedReach is the --reach that a graph is advised to which the memory is too small for.
const SuggestedReach = 2000

// OrReach adds to the error of a --memory that is too small, if err is one, that SuggestedReach, with which one thread takes so many bytes,
// needs less, if that is at most half.
func OrReach(err error, least int64) error {
	return or(err, func(small *budget.TooSmall) string {
		if 2*least > small.Least {
			return ""
		}
		return fmt.Sprintf("add --reach %d, with which a query propagates through a part of the graph, and --memory %d", SuggestedReach, least/budget.MiB)
	})
}

// or adds a remedy, unless it is "".
func or(err error, remedy func(small *budget.TooSmall) string) error {
	var usage *UsageError
	var small *budget.TooSmall
	if !errors.As(err, &usage) || !errors.As(usage.Reason, &small) {
		return err
	}
	text := remedy(small)
	if text == "" {
		return err
	}
	return &UsageError{Text: usage.Text + ", or " + text, Reason: usage.Reason}
}
