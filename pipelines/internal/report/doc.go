// Package report turns a workspace into one page for a person to read: the data, the training, the
// quality of the answers, and the cost in messages. It is the last pipeline: it reads the outputs of
// all others, requires none of them, and names the command that makes what is missing.
package report
