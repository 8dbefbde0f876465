package main

import (
	_ "embed"

	"tagnet/formats/strict"
	"tagnet/infra/experiments/internal/comparison"
)

//go:embed published.json
var publishedText []byte

// published has the numbers of the paper, and of others.
type published struct {
	Paper string `json:"paper"`
	// Methods are the rows of the paper's main tables that we train.
	Methods []method `json:"methods"`
	// DegreeMessages has the figures of specific delta without and with degree messages.
	DegreeMessages struct {
		Without figures `json:"without"`
		With    figures `json:"with"`
	} `json:"degree_messages"`
	// AStarMessagesSaved has, by dataset, the shares of A*Net's messages that the windows save with 6, 7 and 8 layers.
	AStarMessagesSaved map[string][]float64 `json:"astar_messages_saved"`
	// PrunedEmpty is the share of the pruned messages that are empty, and MeanDegree facts per entity.
	PrunedEmpty map[string]float64 `json:"pruned_empty"`
	MeanDegree  map[string]float64 `json:"mean_degree"`
	// Distances are the shares of test queries whose answer is 1, 2, ... edges away, the last one also beyond.
	Distances map[string][]float64 `json:"distances"`
	// Others are of other papers.
	Others []method `json:"others"`
}

// method is a method with its numbers. Experiment is the name of ours that repeats it, Protocol that of the evaluation.
type method struct {
	Method     string  `json:"method"`
	Experiment string  `json:"experiment"`
	Protocol   string  `json:"protocol"`
	Note       string  `json:"note"`
	Figures    figures `json:"figures"`
}

// figures are numbers by dataset and metric.
type figures map[string]map[string]float64

// shownMetrics are the published ones by their keys in the order of the tables.
var shownMetrics = []struct {
	key string
	comparison.Metric
}{{"mrr", comparison.MRR}, {"hits@1", comparison.Hits1}, {"hits@10", comparison.Hits10}}

func readPublished() (p published, err error) {
	return p, strict.Decode("infra/experiments/tables/published.json", publishedText, &p)
}

// The datasets of the paper's tables, in their order.
var (
	transductive = []string{"FB15k-237", "WN18RR"}
	inductive    = []string{"fb237_v1", "fb237_v2", "fb237_v3", "fb237_v4", "WN18RR_v1", "WN18RR_v2", "WN18RR_v3", "WN18RR_v4"}
)
