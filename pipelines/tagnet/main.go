// Tagnet is one program of all commands: tagnet preprocess, tagnet train and so on.
package main

import (
	"errors"
	"fmt"
	"os"

	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/quickstart"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/review"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/serve"
	"tagnet/pipelines/internal/study"
	"tagnet/pipelines/internal/train"
)

// tagnet has every folder of pipelines/ with a main package but this one.
var tagnet = command.Together{
	Name:    "tagnet",
	Summary: "Completes knowledge graphs: trains TAGNet, a graph neural network, on the facts of a graph, and ranks the answers to queries.",
	Commands: []command.Command{
		{Pipeline: quickstart.Playground(), Does: "trains a model on a made-up graph, and serves it on a page"},
		{Pipeline: quickstart.Pipeline(), Does: "runs preprocess, distances, train, score, messages and report on a made-up graph"},
		{Pipeline: preprocess.Pipeline(), Does: "turns the facts of a dataset into the tables of a graph"},
		{Pipeline: study.Distances(), Does: "computes the hops from each query's source to every entity"},
		{Pipeline: bundle.Pipeline(), Does: "finds the part of the graph that each query propagates through"},
		{Pipeline: train.Pipeline(), Does: "trains a model"},
		{Pipeline: score.Pipeline(), Does: "ranks the answers of a split, and computes metrics"},
		{Pipeline: ask.Pipeline(), Does: "answers your own queries, and scores your own triples"},
		{Pipeline: discover.Pipeline(), Does: "lists new facts, the most probable first"},
		{Pipeline: review.Pipeline(), Does: "asks you which of the listed facts are true"},
		{Pipeline: serve.Pipeline(), Does: "answers queries over HTTP, with a page to ask them"},
		{Pipeline: study.Messages(), Does: "counts the messages of propagation, without a model"},
		{Pipeline: report.Pipeline(), Does: "writes one HTML page about a workspace"},
	},
	Others: []command.Other{
		{Name: "version", Does: "prints the version, what this machine computes with, and the formats of files", Flags: versionFlags, Main: showVersion},
	},
}

// showVersion says what this program is.
func showVersion(words string, arguments []string) int {
	err := runVersion(words, arguments, os.Stdout)
	switch {
	case err == nil:
		return command.ExitOK
	case errors.As(err, new(*versionUsageError)):
		fmt.Fprintln(os.Stderr, command.OneLine(err))
		return command.ExitUsage
	}
	fmt.Fprintf(os.Stderr, "version: %v\n", err)
	return command.ExitFailure
}

func main() { tagnet.Main() }
