package answer

import (
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/model/answer/workload"
)

// AskParams are the parameters of Answers and Triples.
type AskParams struct {
	// Queries selects the queries: from the table Queries.Queries, whose kind is Queries.Given, or by Queries.Ask.
	Queries workload.Params
	// Model answers them. The answers to queries are explained if it has Paths.
	Model Params
	// Relations is the number of relations that are kept of each pair, if Queries.Given has pairs.
	Relations int
	// Folder is the URL of the output folder. Required.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// url returns the URL of an output.
func (p AskParams) url(name string) string { return storage.Join(p.Folder, name) }
