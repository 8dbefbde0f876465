// Package plan turns a file of experiments, or a sweep on the command line, into the list of trainings that they stand for, each with its whole
// configuration.
package plan
