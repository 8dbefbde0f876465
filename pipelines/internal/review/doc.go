// Package review asks a person which facts of a list are true, or reads a file in which one has said it. What is said
// is a verdict: judged facts are not listed again, and verdicts tell how many facts are missing.
package review
