// Package verdicts keeps what people said of facts: which are true, and which are not.
package verdicts
