package propagation

import "time"

// Phases are the times that a propagator has spent on its queries since Measure.
type Phases struct {
	// Layout is the time of searching and laying out windows, Messages of reducing messages to features,
	// Dense of linear maps, layer norms and residuals.
	Layout, Messages, Dense time.Duration
}

// Measure makes the propagator add its times to phases, which costs a few readings of the clock for
// each chunk of updates. Nil stops it.
func (p *Propagator) Measure(phases *Phases) { p.phases = phases }

// clock returns the time, or zero where nothing is measured.
func (p *runner) clock() (now time.Time) {
	if p.phases != nil {
		now = time.Now()
	}
	return now
}

// since adds the time since begin to a phase, and returns the time now.
func (p *runner) since(begin time.Time, phase func(*Phases) *time.Duration) time.Time {
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
