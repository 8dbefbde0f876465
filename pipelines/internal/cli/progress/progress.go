package progress

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tagnet/formats/names"
)

const (
	barWidth      = 24
	terminalEvery = 100 * time.Millisecond
	plainEvery    = 5 * time.Second
	silentBelow   = 2 * time.Second // a shorter step prints no line at its end
)

// Display shows progress, one bar at a time. Its methods may be called from several goroutines.
type Display struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	mu       sync.Mutex
	remote   Remote
}

// Remote returns the value of a counter of a job that runs elsewhere, 0 if it is not known yet, and a note on
// the job, or "".
type Remote func(counter string) (count int64, note string)

// Follow sets the job whose counters the bars show, nil for none.
func (d *Display) Follow(job Remote) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remote = job
}

// New returns a display that writes to w: redrawn bars on a terminal, plain lines otherwise.
func New(w io.Writer, terminal bool) *Display {
	return &Display{w: w, terminal: terminal, now: time.Now}
}

// Bar is the progress of one step.
type Bar struct {
	d           *Display
	label, unit string
	total, done int64
	note        string
	begun, last time.Time
	first       int64
	drawn       bool
	ended       bool
	complete    bool // what was done is all there was: total was a bound
	also        *Bar // shown behind this one, or nil
	before      *Bar // the one that this is shown behind, or nil
}

// Begin starts a step of total units ("sources", "queries", ...), or of an unknown number of them if
// total is 0. A step without units shows the time alone. End ends the step.
func (d *Display) Begin(label string, total int64, unit string) *Bar {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	return &Bar{d: d, label: label, unit: unit, total: total, begun: now, last: now}
}

// Also begins another count of the same step, which is shown behind the bar's count, once it has units, and alone when
// the bar is full. It ends with the bar.
func (b *Bar) Also(label string, total int64, unit string) *Bar {
	also := b.d.Begin(label, total, unit)
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.also, also.before = also, b
	return also
}

// Of sets the number of units.
func (b *Bar) Of(total int64) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.total = total
}

// Set sets the number of completed units. It ignores a smaller number than before, since counters
// of a distributed job can decrease.
func (b *Bar) Set(done int64) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.done = max(b.done, done)
	b.draw()
}

// Resume sets the number of units that an earlier run completed. The rate, the time left and the
// line of End leave them out, and the time before the call.
func (b *Bar) Resume(done int64) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.done, b.first = done, done
	b.begun = b.d.now()
}

// Complete says that the step did all that there was. The line of End, and that of Also, then have no larger totals,
// which were bounds.
func (b *Bar) Complete() {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.complete = true
}

// Note shows a text after the numbers, for example the loss.
func (b *Bar) Note(format string, arguments ...any) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.note = Readable(format, arguments...)
	b.draw()
}

// Update is Set and Note at once, so that no line shows a new number beside an old text.
func (b *Bar) Update(done int64, format string, arguments ...any) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.done = max(b.done, done)
	b.note = Readable(format, arguments...)
	b.draw()
}

// End ends the step and replaces the bar by a line with the time it took. A second call has no
// effect, so that it can be deferred.
func (b *Bar) End() {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.ended {
		return
	}
	b.ended = true
	if b.also != nil {
		b.also.ended = true
	}
	if b.drawn && b.d.terminal {
		fmt.Fprint(b.d.w, "\r\x1b[K")
	}
	took := b.d.now().Sub(b.begun)
	if took < silentBelow {
		return
	}
	b.sum(took, b.complete)
	if a := b.also; a != nil && b.d.now().Sub(a.begun) >= silentBelow {
		a.sum(b.d.now().Sub(a.begun), b.complete)
	}
}

// sum prints what a step has done, and of how many units.
func (b *Bar) sum(took time.Duration, complete bool) {
	done, total := b.done-b.first, b.total-b.first
	if complete {
		total = done
	}
	text := b.label + ": "
	if b.unit != "" {
		text += Count(done)
		if b.total > 0 {
			text += " of " + Count(total)
		}
		text += " " + b.unit + " in "
	}
	text += Duration(took)
	if b.note != "" {
		text += ", " + b.note
	}
	fmt.Fprintln(b.d.w, text)
}

// Print writes a permanent line, above the bar if there is one.
func (d *Display) Print(format string, arguments ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.terminal {
		fmt.Fprint(d.w, "\r\x1b[K")
	}
	fmt.Fprintln(d.w, Readable(format, arguments...))
}

// Readable is fmt.Sprintf with the texts and errors among the arguments escaped by names.Escape: they may hold names
// that the terminal would obey.
func Readable(format string, arguments ...any) string {
	arguments = slices.Clone(arguments)
	for i, a := range arguments {
		switch a := a.(type) {
		case string:
			arguments[i] = names.Escape(a)
		case error:
			arguments[i] = names.Escape(a.Error())
		}
	}
	return fmt.Sprintf(format, arguments...)
}

// draw prints the bar, at most every terminalEvery or plainEvery, over its last line in a terminal.
func (b *Bar) draw() {
	if b.before != nil {
		b.before.draw()
		return
	}
	now := b.d.now()
	every := plainEvery
	if b.d.terminal {
		every = terminalEvery
	}
	if b.ended || now.Sub(b.last) < every {
		return
	}
	b.last = now
	b.drawn = true
	if b.d.terminal {
		fmt.Fprintf(b.d.w, "\r\x1b[K%s", b.text(now, true))
		return
	}
	fmt.Fprintln(b.d.w, b.text(now, false))
}

// text returns the bar's line: its counts, and the note.
func (b *Bar) text(now time.Time, bar bool) string {
	text := b.counts(now, bar)
	if b.note != "" {
		text += "  " + b.note
	}
	return text
}

// counts returns label, percentage, count, rate and time left of the bar, then of the count of Also.
func (b *Bar) counts(now time.Time, bar bool) string {
	if b.also != nil && b.total > 0 && b.done >= b.total {
		return b.also.counts(now, bar)
	}
	var parts []string
	elapsed := now.Sub(b.begun)
	rate := float64(b.done-b.first) / max(elapsed.Seconds(), 1e-9)
	if b.total > 0 {
		share := min(1, float64(b.done)/float64(b.total))
		if bar {
			full := int(share * barWidth)
			parts = append(parts, "["+strings.Repeat("=", full)+strings.Repeat(" ", barWidth-full)+"]")
		}
		parts = append(parts, fmt.Sprintf("%3.0f%%", 100*share), fmt.Sprintf("%s of %s %s", Count(b.done), Count(b.total), b.unit))
	} else if b.unit != "" {
		parts = append(parts, fmt.Sprintf("%s %s", Count(b.done), b.unit))
	}
	if b.done > b.first {
		parts = append(parts, fmt.Sprintf("%s/s", Rate(rate)))
		if left := b.total - b.done; b.total > 0 && left > 0 {
			parts = append(parts, Duration(time.Duration(float64(left)/rate*float64(time.Second)))+" left")
		}
	} else {
		parts = append(parts, Duration(elapsed))
	}
	if b.also != nil && b.also.done > 0 {
		parts = append(parts, b.also.counts(now, false))
	}
	return b.label + " " + strings.Join(parts, "  ")
}

// Count formats a number with commas between groups of three digits.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// Rate formats a number of units per second with about three digits.
func Rate(r float64) string {
	if r >= 100 {
		return Count(int64(r + 0.5))
	}
	return strconv.FormatFloat(r, 'g', 3, 64)
}

// Duration formats a time: 0.4s, 12s, 3m05s, 2h10m.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		s := int(d.Seconds())
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	m := int(d.Minutes())
	return fmt.Sprintf("%dh%02dm", m/60, m%60)
}
