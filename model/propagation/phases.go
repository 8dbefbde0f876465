package propagation

import "time"

// Phases is how long a propagator has worked on each part of its queries, since it was told
// to measure them.
type Phases struct {
	// Layout is the search, and parting what it reached, Messages the reduction of messages to
	// features, Dense the linear maps, norms and residuals.
	Layout, Messages, Dense time.Duration
	// Copied is how many updates were copies of others that are alike, Spared how many messages
	// these would have read.
	Copied, Spared int64
}

// Measure has the propagator add its times to phases, or stop where that is nil. It reads
// the clock a few times per chunk of updates.
func (p *Propagator) Measure(phases *Phases) { p.phases = phases }

// clock returns the time if somebody wants it.
func (p *Propagator) clock() (now time.Time) {
	if p.phases != nil {
		now = time.Now()
	}
	return now
}

// since adds the time from begin to a phase, and returns the present.
func (p *Propagator) since(begin time.Time, phase func(*Phases) *time.Duration) time.Time {
	if p.phases == nil {
		return begin
	}
	now := time.Now()
	*phase(p.phases) += now.Sub(begin)
	return now
}

func layoutPhase(p *Phases) *time.Duration   { return &p.Layout }
func messagesPhase(p *Phases) *time.Duration { return &p.Messages }
func densePhase(p *Phases) *time.Duration    { return &p.Dense }
