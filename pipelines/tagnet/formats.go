package main

import (
	"strconv"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/safetensors"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/rules"
	"tagnet/model/weights/checkpoint"
)

// fileFormat is a kind of file, and the version of it that this program writes.
type fileFormat struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// formats lists the kinds of files of a workspace that have a version.
func formats() []fileFormat {
	list := []fileFormat{
		{"manifest", strconv.Itoa(manifest.FormatVersion)},
		{"arrow", tables.Version},
		{"arrow queries", tables.QueriesVersion},
		{"safetensors", safetensors.FormatVersion},
		{"checkpoint", strconv.Itoa(checkpoint.FormatVersion)},
		{"probabilities", strconv.Itoa(probability.FormatVersion)},
		{"rules", strconv.Itoa(rules.FormatVersion)},
	}
	for _, t := range parquet.Tables() {
		list = append(list, fileFormat{"parquet " + t.Name, t.Version})
	}
	return list
}
