package chart

import (
	"math"
	"strconv"
)

// Axis is one side of a chart.
type Axis struct {
	// Label names the quantity, with its unit.
	Label string
	// Format writes a value; nil writes four digits.
	Format func(float64) string
	// Zero makes the axis begin at 0, Log makes it logarithmic.
	Zero, Log bool
	// Whole allows ticks at whole numbers only.
	Whole bool
	// Most is the largest value the axis can need, such as 1 for a share; 0 leaves it to the data.
	Most float64
}

func (a Axis) format(v float64) string {
	if a.Format != nil {
		return a.Format(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// scale maps the values of an axis to coordinates of the canvas.
type scale struct {
	axis      Axis
	low, high float64 // values
	from, to  float64 // coordinates
	ticks     []tick
}

// tick is a value at which an axis has a label, distinct from all other labels.
type tick struct {
	value float64
	label string
}

// newScale returns a scale that covers the values between two coordinates, with about most ticks.
func newScale(axis Axis, values []float64, most int, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) && !(axis.Log && v <= 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 0, 1
		if axis.Log {
			low = 1
		}
	}
	if axis.Log {
		return logScale(axis, low, high, from, to)
	}
	if axis.Zero {
		low, high = min(low, 0), max(high, 0)
	}
	if high-low <= 1e-9*max(math.Abs(low), math.Abs(high)) { // also where steps between them would be lost in rounding
		if high++; low != 0 && !axis.Whole {
			low--
		}
	}
	step := niceStep((high-low)/float64(most), axis.Whole)
	s := scale{axis: axis, low: math.Floor(low/step) * step, high: math.Ceil(high/step) * step, from: from, to: to}
	if axis.Whole { // an axis of epochs or layers ends where they end
		s.low, s.high = low, high
	}
	if axis.Most > 0 && s.high > axis.Most {
		s.high = axis.Most
	}
	var ticks []float64
	for tick := math.Ceil(s.low/step-1e-9) * step; tick <= s.high+step*1e-9; tick += step {
		ticks = append(ticks, math.Round(tick/step)*step+0) // + 0 makes 0 of -0
	}
	s.ticks = axis.labeled(ticks)
	return s
}

// logScale returns a logarithmic scale from a power of ten on with a tick at each; one of less than two decades also
// has ticks at their multiples by 2 and 5, and begins and ends at a tick.
func logScale(axis Axis, low, high, from, to float64) scale {
	s := scale{axis: axis, low: math.Pow(10, math.Floor(math.Log10(low)+1e-9)), high: high, from: from, to: to}
	times := []float64{1}
	if high < 100*low {
		times = []float64{1, 2, 5}
	}
	if s.low >= s.high {
		s.high = 10 * s.low
	}
	var ticks []float64
	for power := s.low; power <= s.high*1.000001; power *= 10 {
		for _, factor := range times {
			ticks = append(ticks, factor*power)
		}
	}
	if len(times) > 1 {
		for len(ticks) > 2 && ticks[1] <= low*1.000001 {
			ticks = ticks[1:]
		}
		for len(ticks) > 2 && ticks[len(ticks)-2] >= s.high*0.999999 {
			ticks = ticks[:len(ticks)-1]
		}
		s.low, s.high = ticks[0], max(s.high, ticks[len(ticks)-1])
	}
	s.ticks = axis.labeled(ticks)
	return s
}

// labeled returns the ticks with their labels: with four digits, or as many more as tell them apart. Of those that
// Format writes alike the first remains.
func (a Axis) labeled(values []float64) []tick {
	const mostDigits = 17 // of a float64
	var ticks []tick
	for digits := 4; digits <= mostDigits && len(ticks) < len(values); digits++ {
		format := a.Format
		if format == nil {
			format = func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
		}
		ticks = ticks[:0]
		for _, v := range values {
			if label := format(v); len(ticks) == 0 || ticks[len(ticks)-1].label != label {
				ticks = append(ticks, tick{v, label})
			}
		}
	}
	return ticks
}

// at returns the coordinate of a value.
func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.axis.Log {
		v, low, high = math.Log10(max(v, s.low)), math.Log10(s.low), math.Log10(s.high)
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// niceStep returns the smallest of 1, 2 or 5 times a power of ten that is at least step.
func niceStep(step float64, whole bool) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, times := range []float64{1, 2, 5, 10} {
		nice := times * power
		if nice >= step*(1-1e-9) && (!whole || nice == math.Trunc(nice)) {
			return nice
		}
	}
	return math.Ceil(step)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
