package command

import (
	"fmt"
	"runtime"
	"time"

	"tagnet/pipelines/internal/cli/progress"
)

// Load is the input of a step of a job, as --plan shows it.
type Load struct {
	// Step is the step's name. It takes Elements of Unit, which workers divide in Parts; 0 is not known.
	Step     string
	Elements int64
	Unit     string
	Parts    int64
	// Bytes is about the size of its output, a bound if Compressed; 0 is not known.
	Bytes      int64
	Compressed bool
}

// String writes the line of the step.
func (l Load) String() string {
	text := fmt.Sprintf("%s: %s %s", l.Step, progress.Count(l.Elements), l.Unit)
	switch {
	case l.Parts == 1:
		text += " in 1 part"
	case l.Parts > 1:
		text += fmt.Sprintf(" in %s parts", progress.Count(l.Parts))
	}
	switch {
	case l.Bytes > 0 && l.Compressed:
		text += ", writes at most " + size(l.Bytes)
	case l.Bytes > 0:
		text += ", writes about " + size(l.Bytes)
	}
	return text
}

// size writes a number of bytes with a unit.
func size(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.3g %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Cost is about how many seconds of a core a command takes. AtMost marks a bound that may be far above them, Threads
// that they were measured here with so many.
type Cost struct {
	Seconds float64
	AtMost  bool
	Threads int
}

// String says how long the command takes here or, if workers run elsewhere, what decides it.
func (c Cost) String() string {
	about := "about "
	if c.AtMost {
		about = "at most about "
	}
	text := about + seconds(c.Seconds) + " of one core with AVX-512"
	if c.Threads > 0 {
		text = about + seconds(c.Seconds) + " of one core, as measured here"
	}
	if Elsewhere() {
		return text + ", divided by the cores of all workers, and the time to start them"
	}
	cores := runtime.GOMAXPROCS(0)
	if c.Threads > 0 {
		cores = c.Threads
	}
	return fmt.Sprintf("%s, %s on %d cores", text, seconds(c.Seconds/float64(cores)), cores)
}

// seconds rounds to a whole second, at least one.
func seconds(s float64) string {
	return progress.Duration(max(time.Second, time.Duration(s+0.5)*time.Second))
}
