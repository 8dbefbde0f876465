package steps

// Stepper makes the steps of a training, for one goroutine at a time: a Trainer, which works on the weights and the
// solver in place, or one on a device, which has copies of them.
type Stepper interface {
	// Step changes the weights by the mean gradient of a batch; see Trainer.Step.
	Step(examples []Example, seed uint64) (Result, error)
	// Announce gives the stepper the step after the next one, to prepare it while it makes the next one: it
	// calls next at most once, meanwhile. The results of the announced step, or of another one in its place,
	// are the same as without.
	Announce(next func() (examples []Example, seed uint64))
	// Store copies the weights and the solver's state, its number of steps included, back to the
	// parameters and the solver.
	Store() error
	// Load copies them from the parameters and the solver, the opposite of Store.
	Load() error
	// Close frees what the stepper holds. It does not store.
	Close() error
}
