package learn

import (
	"math"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// MostPasses is how often a training for a time learns from each fact at most: more has not helped.
const MostPasses = 40

const (
	// validations is about how often a training for a time is validated.
	validations = 10
	// validationShare is the part of the time that validations may take, leastValidated the validation queries that
	// they take even so.
	validationShare, leastValidated = .15, 20
	// lastRate is the learning rate of the last epoch as a part of that of the first.
	lastRate = .12
	// reserve is the part of the time that is not planned: speeds vary.
	reserve = .1
	// leastQueries are always enough for a training.
	leastQueries = 1000
)

// Timetable is the amount of a training for a time. Its numbers are fixed before the first step, so that an equal
// training can be made anywhere.
type Timetable struct {
	Epochs, QueriesPerEpoch, ValidateEvery int
	ValidLimit                             int64
	Decay                                  float64 // of the learning rate
	Queries                                int64   // of all epochs
	Enough                                 bool    // the training is one of MostPasses, and takes less than its time
}

// Timetable returns the timetable of a training on a number of facts, which has a number of validation answers, for
// some seconds. ok is false if the time is too short for leastQueries, and for a step in each epoch. extra is the
// number of validations beside those of the epochs.
func (s Speed) Timetable(seconds float64, c configuration.Configuration, facts int, valid int64, extra int) (t Timetable, ok bool) {
	seconds *= 1 - reserve
	t.ValidLimit = valid
	if ranked := s.Ranked * float64(validations+extra); valid > 0 && ranked > 0 {
		t.ValidLimit = min(valid, round(max(leastValidated, validationShare*seconds/ranked)))
	}
	validation := s.Ranked * float64(t.ValidLimit)
	queries := (seconds - validation*float64(validations+extra)) / s.Query
	if queries < min(leastQueries, float64(validations*c.BatchSize)) {
		return t, false
	}
	if enough := float64(MostPasses) * float64(facts); queries > enough {
		queries, t.Enough = enough, true
	}
	// Short epochs draw a part of the facts; of a small graph, several passes are made before a validation.
	c.QueriesPerEpoch = 0
	if perEpoch := queries / validations; perEpoch < float64(facts) {
		c.QueriesPerEpoch = max(int(round(perEpoch)), min(facts, c.BatchSize, int(queries)))
	}
	drawn := float64(steps.FactsPerEpoch(facts, c))
	t.QueriesPerEpoch, t.Epochs = c.QueriesPerEpoch, max(1, int(queries/drawn))
	t.ValidateEvery = max(1, t.Epochs/validations)
	t.Epochs -= t.Epochs % t.ValidateEvery // the last one is validated
	t.Decay = 1
	if t.Epochs > 1 {
		t.Decay = math.Round(1000*math.Pow(lastRate, 1/float64(t.Epochs-1))) / 1000
	}
	if t.ValidLimit == valid {
		t.ValidLimit = 0
	}
	t.Queries = int64(drawn) * int64(t.Epochs)
	return t, true
}

// TimetableBefore is Timetable for a training after which something takes longer, the longer it is. lacks is about by
// how many seconds the time is too short; the timetable is then that for enough.
func (s Speed) TimetableBefore(after func(Timetable) float64, seconds float64, c configuration.Configuration, facts int, valid int64, extra int,
) (t Timetable, lacks float64) {
	ok := false
	for enough := seconds; !ok; enough = max(1e-3, 1.05*enough) {
		training := enough
		for range 30 {
			t, _ = s.Timetable(training, c, facts, valid, extra)
			training = (training + enough - after(t)) / 2
		}
		t, ok = s.Timetable(training, c, facts, valid, extra)
		lacks = enough - seconds
	}
	return t, lacks
}

// round rounds down to two digits.
func round(x float64) int64 {
	if x < 1 {
		return 0
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(x))-1))
	return int64(math.Floor(x/unit) * unit)
}

// Epoch returns the seconds of an epoch of a configuration, validated as often as v says.
func (s Speed) Epoch(c configuration.Configuration, facts int, valid int64, v metrics.Validation) float64 {
	if v.Limit > 0 {
		valid = min(valid, v.Limit)
	}
	return s.Query*float64(steps.FactsPerEpoch(facts, c)) + s.Ranked*float64(valid)/float64(max(1, v.Every))
}

// Epochs returns how many epochs fit into some seconds.
func (s Speed) Epochs(seconds float64, c configuration.Configuration, facts int, valid int64, v metrics.Validation) int {
	return max(0, int(seconds*(1-reserve)/s.Epoch(c, facts, valid, v)))
}
