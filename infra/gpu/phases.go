package main

import (
	"cmp"
	"slices"

	"tagnet/model/device"
	"tagnet/model/gpu"
)

// phases lists the phases of a step and of scoring, with their kernels.
var phases = []struct {
	name    string
	kernels []string
}{
	{"search", []string{"confine_start", "confine", "search_start", "search_first", "search_pack", "search_next"}},
	{"rows", []string{"activate_candidates", "activate_senders", "activate_all", "rows_count", "rows_start", "rows_write", "strips_count", "strips_start", "strips_write", "draw_masks", "count_sent"}},
	{"embeddings", []string{"embed", "arrange", "mlp_arrange", "start_states"}},
	{"relation tables", []string{"project", "project_backward", "project_states", "project_weights", "project_sum"}},
	{"aggregation", []string{"aggregate"}},
	{"node update", []string{"update"}},
	{"head and loss", []string{"mlp_shift", "attend", "score", "loss", "score_backward", "attend_backward", "mlp_partial", "mlp_query", "mlp_sum", "mlp_embedding"}},
	{"state gradients", []string{"state_gradients"}},
	{"feature gradients", []string{"feature_gradients"}},
	{"message gradients", []string{"message_extremes"}},
	{"relation gradients", []string{"relation_partial", "relation_sum", "relation_map", "relation_query", "relation_parameters", "query_gradients", "query_parameters"}},
	{"weight gradients", []string{"weight_partial", "weight_sum", "vector_partial", "vector_sum"}},
	{"optimizer", []string{"check_finite", "adam"}},
	{"ranking", []string{"check_scores", "rank", "best"}},
}

// otherPhase has the kernels that phases does not list.
const otherPhase = "other"

// phaseOf returns the phase of a kernel.
func phaseOf(kernel string) string {
	for _, p := range phases {
		if slices.Contains(p.kernels, kernel) {
			return p.name
		}
	}
	return otherPhase
}

// phase is what a phase took, by step or by query.
type phase struct {
	Phase        string  `json:"phase"`
	Microseconds float64 `json:"microseconds"`
	Share        float64 `json:"share"`
	Launches     float64 `json:"launches"`
	// Bytes and Operations are counted; see the README. The rates are theirs by second, and the shares those of the card's peaks.
	Bytes          float64 `json:"bytes"`
	Operations     float64 `json:"operations"`
	ByteRate       float64 `json:"bytes_per_second"`
	OperationRate  float64 `json:"operations_per_second"`
	ByteShare      float64 `json:"share_of_bandwidth,omitempty"`
	OperationShare float64 `json:"share_of_operations,omitempty"`
	Kernels        []taken `json:"kernels"`
}

// taken is what a kernel took.
type taken struct {
	Kernel       string  `json:"kernel"`
	Microseconds float64 `json:"microseconds"`
	Launches     float64 `json:"launches"`
}

// group adds up the times of kernels by phase, divided by a number of steps or queries, in the order of the phases.
func group(times []gpu.KernelTime, count int, counted costs, card device.Properties) []phase {
	byName := map[string]*phase{}
	total := 0.0
	for _, t := range times {
		name := phaseOf(t.Kernel)
		p := byName[name]
		if p == nil {
			p = &phase{Phase: name, Bytes: counted[name].bytes, Operations: counted[name].operations}
			byName[name] = p
		}
		k := taken{t.Kernel, 1000 * t.Milliseconds / float64(count), float64(t.Launches) / float64(count)}
		p.Kernels = append(p.Kernels, k)
		p.Microseconds += k.Microseconds
		p.Launches += k.Launches
		total += k.Microseconds
	}
	var list []phase
	for _, p := range byName {
		p.Share = p.Microseconds / total
		p.rate(card)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b phase) int { return cmp.Compare(order(a.Phase), order(b.Phase)) })
	return list
}

// rate sets what follows from the time and the counts.
func (p *phase) rate(card device.Properties) {
	if p.Microseconds == 0 {
		return
	}
	p.ByteRate, p.OperationRate = 1e6*p.Bytes/p.Microseconds, 1e6*p.Operations/p.Microseconds
	if peak := peakBytes(card); peak > 0 {
		p.ByteShare = p.ByteRate / peak
	}
	if peak := peakOperations(card); peak > 0 {
		p.OperationShare = p.OperationRate / peak
	}
}

func order(name string) int {
	for i, p := range phases {
		if p.name == name {
			return i
		}
	}
	return len(phases)
}
