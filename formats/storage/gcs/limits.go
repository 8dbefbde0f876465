package gcs

import "time"

// How long the package waits for the service. Package gcstest shortens the times for the tests of all packages.
var (
	// Patience is how long a call that fails for a temporary reason is retried. Such failures last
	// for seconds. The client's default is to retry forever.
	Patience = 3 * time.Minute
	// Answer is how long an attempt waits for the response to begin, and for more of it.
	Answer = time.Minute
	// Pause is the longest pause before the first retry. It doubles with each further one, up to LongestPause.
	Pause = time.Second
	// LongestPause is the longest pause between two attempts.
	LongestPause = 30 * time.Second
)
