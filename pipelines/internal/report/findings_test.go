package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/ranking"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/workspace"
)

// evaluationOf returns the evaluation whose metrics are those of the given ranks.
func evaluationOf(rows []parquet.Ranking) evaluation {
	sums := map[string]*ranking.Accumulator{}
	unreached := map[string]int64{}
	add := func(key string, r parquet.Ranking) {
		if sums[key] == nil {
			sums[key] = new(ranking.Accumulator)
		}
		sums[key].Add(ranking.Rank{Pessimistic: r.RankPessimistic, Optimistic: r.RankOptimistic})
		if r.Distance < 0 {
			unreached[key]++
		}
	}
	summary := func(key string) metrics.Summary {
		a := sums[key]
		if a == nil {
			return metrics.Summary{}
		}
		return metrics.Summary{Queries: a.Queries, Unreached: unreached[key], Ranks: a.Metrics()}
	}
	v := evaluation{Evaluation: metrics.Evaluation{Split: "test", ByDirection: map[string]metrics.Summary{}, ByRelation: map[string]metrics.Summary{},
		ByDistance: map[string]metrics.Summary{}}}
	for _, r := range rows {
		distance := fmt.Sprint(r.Distance)
		if r.Distance < 0 {
			distance = hop.Key
		}
		add("", r)
		add(r.Direction, r)
		add("r:"+r.Relation, r)
		add("d:"+distance, r)
		v.ByDirection[r.Direction] = metrics.Summary{}
		v.ByRelation[r.Relation] = metrics.Summary{}
		v.ByDistance[distance] = metrics.Summary{}
	}
	v.Summary = summary("")
	for name := range v.ByDirection {
		v.ByDirection[name] = summary(name)
	}
	for name := range v.ByRelation {
		v.ByRelation[name] = summary("r:" + name)
	}
	for name := range v.ByDistance {
		v.ByDistance[name] = summary("d:" + name)
	}
	v.ranks = newRanks(1, v.worstRelations())
	v.ranks.add(rows)
	return v
}

// madeRankings draws queries of ten relations; change may alter each.
func madeRankings(queries int, change func(i int, r *parquet.Ranking)) []parquet.Ranking {
	random := rand.New(rand.NewPCG(4, 2))
	rows := make([]parquet.Ranking, queries)
	for i := range rows {
		rank := int64(1 + 20*math.Pow(random.Float64(), 3))
		rows[i] = parquet.Ranking{Query: int64(i), Direction: []string{"tail", "head"}[i%2], Relation: fmt.Sprintf("r%d", i/2%10), RankPessimistic: rank,
			RankOptimistic: rank, Candidates: 1000, Distance: 2}
		if change != nil {
			change(i, &rows[i])
		}
		rows[i].RankOptimistic = min(rows[i].RankOptimistic, rows[i].RankPessimistic)
		rows[i].RankMean = float64(rows[i].RankPessimistic+rows[i].RankOptimistic) / 2
	}
	return rows
}

// TestFindings checks on made-up results that a sentence is there where the results support it, and only there.
func TestFindings(t *testing.T) {
	t.Parallel()
	worseHeads := func(_ int, r *parquet.Ranking) {
		if r.Direction == "head" {
			r.RankPessimistic, r.RankOptimistic = 2*r.RankPessimistic+1, 2*r.RankOptimistic+1
		}
	}
	for _, test := range []struct {
		name    string
		rows    []parquet.Ranking
		layers  int
		counted bool
		want    []string // beginnings of the sentences
	}{
		{"nothing to tell", madeRankings(1000, nil), 6, false, nil},
		{"a gap between directions", madeRankings(1000, worseHeads), 6, false,
			[]string{"Tails are found better than heads: MRR 0.480 against 0.183, a difference of 0.297 (95% interval 0.2"}},
		{"the gap of a few queries", madeRankings(60, func(i int, r *parquet.Ranking) {
			if i%6 == 1 {
				r.RankPessimistic, r.RankOptimistic = r.RankPessimistic+1, r.RankOptimistic+1
			}
		}), 6, false, nil},
		{"the other gap", madeRankings(1000, func(i int, r *parquet.Ranking) {
			worseHeads(i, r)
			r.Direction = map[string]string{"tail": "head", "head": "tail"}[r.Direction]
		}), 6, false, []string{"Heads are found better than tails: "}},
		{"unreached answers", madeRankings(1000, func(i int, r *parquet.Ranking) {
			if i%9 == 0 {
				r.Distance, r.RankPessimistic, r.RankOptimistic = -1, 900, 700
			}
		}), 3, false, []string{"11.2% of the answers (112 of 1,000) cannot be found, since no message reaches them within 3 layers; of the others "}},
		{"one unreached answer", madeRankings(1000, func(i int, r *parquet.Ranking) {
			if i == 7 {
				r.Distance, r.RankPessimistic, r.RankOptimistic = -1, 900, 900
			}
		}), 3, false, nil},
		{"ties", madeRankings(1000, func(i int, r *parquet.Ranking) {
			if i%10 < 4 {
				r.RankOptimistic = 1
			}
		}), 6, false, []string{"24.7% of the answers have exactly the score of another entity, so that the MRR depends on how ties count: 0.497 " +
			"pessimistic, 0.700 optimistic."}},
		{"a bad relation", madeRankings(1000, func(i int, r *parquet.Ranking) {
			if r.Relation == "r3" {
				r.RankPessimistic, r.RankOptimistic = 40+r.RankPessimistic, 40+r.RankOptimistic
			}
		}), 6, false, []string{"Of the 10 relations with at least 30 queries, answered worst is r3 (MRR 0.02"}},
		{"a bad relation of few queries", madeRankings(200, func(i int, r *parquet.Ranking) {
			if r.Relation == "r3" {
				r.RankPessimistic, r.RankOptimistic = 40+r.RankPessimistic, 40+r.RankOptimistic
			}
		}), 6, false, nil},
		{"messages", nil, 6, true, []string{"Truncation leaves out 80.0% of the messages that propagation along every edge in every layer sends, and 20.0% " +
			"of those that are not empty."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := &evidence{checkpoint: &checkpoint.Record{}}
			e.checkpoint.Configuration.Layers, e.checkpoint.Configuration.Policy = test.layers, "window"
			if test.rows != nil {
				e.evaluations = []evaluation{evaluationOf(test.rows)}
			}
			if test.counted {
				e.messages = []counts.Summary{{Configurations: []counts.Configuration{{Layers: 6,
					Totals: counts.Totals{NBFNet: 1000, Kept: 300, KeptEmpty: 100, PrunedEmpty: 650, PrunedRedundant: 50}}}}}
			}
			got := e.findings()
			if len(got) != len(test.want) {
				t.Fatalf("%d sentences, want %d:\n%s", len(got), len(test.want), strings.Join(got, "\n"))
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}

// TestMoreLayers checks that the page names so many layers that nearly all answers with a path are within
// reach, where layers help.
func TestMoreLayers(t *testing.T) {
	t.Parallel()
	v := evaluationOf(madeRankings(1000, func(i int, r *parquet.Ranking) {
		if i%9 == 0 {
			r.Distance, r.RankPessimistic, r.RankOptimistic = -1, 900, 700
		}
	}))
	for name, c := range map[string]struct {
		distances map[string]int64
		reach     int
		unreached int64
		want      string
	}{
		"distances are not known":          {nil, 0, 112, "train with --layers 5."},
		"some are far":                     {map[string]int64{"2": 888, "4": 50, "7": 51, "8": 6, "9": 5, "unreached": 0}, 0, 112, "train with --layers 8."},
		"a percent is farther":             {map[string]int64{"2": 888, "4": 50, "7": 52, "8": 5, "9": 5, "unreached": 0}, 0, 112, "train with --layers 7."},
		"no search went farther":           {map[string]int64{"2": 888, "3": 0, "unreached": 112}, 0, 112, "train with --layers 5."},
		"no path leads to the others":      {map[string]int64{"2": 888, "4": 10, "unreached": 102}, 0, 112, ""},
		"a reach leaves them out":          {nil, 80, 112, ""},
		"they are not more than a percent": {nil, 0, 10, ""},
	} {
		v.evaluated.Reach, v.Unreached = c.reach, c.unreached
		e := &evidence{checkpoint: &checkpoint.Record{}, evaluations: []evaluation{v}}
		e.checkpoint.Configuration.Layers, e.checkpoint.Configuration.Policy = 3, "window"
		if c.distances != nil {
			e.distances = []counts.Distribution{{Split: "valid"}, {Split: "test", Queries: 1000, ByDistance: c.distances}}
		}
		got := e.outOfReach(v)
		if said := strings.Contains(got, "--layers"); said != (c.want != "") {
			t.Errorf("%s: %q", name, got)
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q at its end", name, got, c.want)
		}
	}
}

// TestBesideBaselines shows a model that is worse than popularity on one relation.
func TestBesideBaselines(t *testing.T) {
	t.Parallel()
	v := evaluationOf(madeRankings(1000, nil))
	if rows, said := v.besideTable().Rows, v.belowPopularity(); rows != nil || said != "" {
		t.Errorf("without baselines: %v, %q", rows, said)
	}
	ranks := func(mrr, hits float64) metrics.Ranks {
		return metrics.Ranks{Pessimistic: metrics.Metrics{MRR: mrr, Hits10: hits}}
	}
	v.ByLinks = map[string]metrics.Summary{"both": {Queries: 7, Ranks: ranks(.81, .82)}, "tail": {Queries: 993, Ranks: ranks(.71, .72)}}
	v.Baselines = &metrics.Baselines{
		Popularity: metrics.Baseline{Ranks: ranks(.11, .12), ByLinks: map[string]metrics.Ranks{"both": ranks(.13, .14), "tail": ranks(.15, .16)},
			ByRelation: map[string]metrics.Ranks{"r3": ranks(.99, 1), "r4": ranks(.01, 1)}},
		Rules: metrics.Baseline{Ranks: ranks(.21, .22), ByLinks: map[string]metrics.Ranks{"both": ranks(.23, .24), "tail": ranks(.25, .26)}},
	}
	var rows []string
	for _, row := range v.besideTable().Rows {
		var texts []string
		for _, c := range row {
			texts = append(texts, c.Text)
		}
		rows = append(rows, strings.Join(texts, " "))
	}
	whole := "all queries 1,000 " + metric(v.Pessimistic.MRR) + " 0.110 0.210 " + metric(v.Pessimistic.Hits10) + " 0.120 0.220"
	if diff := cmp.Diff([]string{"both 7 0.810 0.130 0.230 0.820 0.140 0.240", "(·, r, t) 993 0.710 0.150 0.250 0.720 0.160 0.260", whole}, rows); diff != "" {
		t.Error(diff)
	}
	want := "Of the relations with at least 20 queries, the most frequent answers are a better guess than the model's on r3 (MRR " +
		metric(v.ByRelation["r3"].Pessimistic.MRR) + " against 0.990)."
	if got := v.belowPopularity(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.Baselines.Rules.Pessimistic.MRR = v.Pessimistic.MRR
	if got := v.belowRules(); got != "" {
		t.Errorf("rules that are equal: %q", got)
	}
	v.Baselines.Rules.Pessimistic.MRR = .999
	rules := "Rules of one hop, without training, rank the answers better than the model: MRR 0.999 against " + metric(v.Pessimistic.MRR) + "."
	e := &evidence{evaluations: []evaluation{v}}
	for _, want := range []string{rules, want} {
		if !slices.Contains(e.findings(), want) {
			t.Errorf("the findings do not say %q: %q", want, e.findings())
		}
	}
}

// TestUnreachedAnswersOfReach checks that the page names the reach of an evaluation, which leaves answers out that
// layers do not.
func TestUnreachedAnswersOfReach(t *testing.T) {
	t.Parallel()
	v := evaluationOf(madeRankings(1000, func(i int, r *parquet.Ranking) {
		if i%9 == 0 {
			r.Distance, r.RankPessimistic, r.RankOptimistic = -1, 900, 700
		}
	}))
	v.evaluated.Reach = 80
	e := &evidence{checkpoint: &checkpoint.Record{}, evaluations: []evaluation{v}}
	e.checkpoint.Configuration.Layers, e.checkpoint.Configuration.Policy = 3, "window"
	if got := strings.Join(e.findings(), " "); !strings.Contains(got,
		"no message reaches them within 3 layers and the 80 entities of a query's reach; of the others ") {
		t.Error(got)
	}
}

// TestUnreachedAnswersOfFull checks that the page does not call unreached answers impossible to find, or tied, with the
// policy full, which gives them scores of their own.
func TestUnreachedAnswersOfFull(t *testing.T) {
	t.Parallel()
	v := evaluationOf(madeRankings(1000, func(i int, r *parquet.Ranking) {
		if i%9 == 0 {
			r.Distance = -1
		}
	}))
	for policy, says := range map[string]bool{"window": true, "full": false, "full within a reach": true} {
		policy, within := strings.CutSuffix(policy, " within a reach")
		v.evaluated.Reach = 0
		if within {
			v.evaluated.Reach = 80
		}
		e := &evidence{checkpoint: &checkpoint.Record{}, evaluations: []evaluation{v}}
		e.checkpoint.Configuration.Policy = policy
		if got := strings.Join(e.findings(), " "); strings.Contains(got, "cannot be found") != says {
			t.Errorf("%s: %q", policy, got)
		}
		if got := v.distanceFigure(e.unreachedDiffer(v)).Caption; strings.Contains(got, "share one score") != says {
			t.Errorf("%s: %q", policy, got)
		}
	}
}

// TestUnreachedAnswersOfWeights checks the same of weights that a flag names, and that messages of windows are not said
// to be saved by them.
func TestUnreachedAnswersOfWeights(t *testing.T) {
	t.Parallel()
	v := evaluationOf(madeRankings(1000, func(i int, r *parquet.Ranking) {
		if i%9 == 0 {
			r.Distance = -1
		}
	}))
	counted := counts.Summary{Split: "test", Configurations: []counts.Configuration{{Layers: 6, Delta: 2}}}
	for name, c := range map[string]struct {
		of   workspace.Evaluated
		says bool
	}{
		"a model with windows":     {workspace.Evaluated{GivenModel: &checkpoint.Origin{Model: "wn18rr"}}, true},
		"a file":                   {workspace.Evaluated{GivenModel: &checkpoint.Origin{File: "ultra_3g.pth"}}, false},
		"a checkpoint from a file": {workspace.Evaluated{From: &checkpoint.Origin{File: "ultra_3g.pth"}}, false},
	} {
		v.evaluated = c.of
		e := &evidence{evaluations: []evaluation{v}, messages: []counts.Summary{counted}}
		if got := strings.Join(e.findings(), " "); strings.Contains(got, "cannot be found") != c.says {
			t.Errorf("%s: %q", name, got)
		}
		if got := v.distanceFigure(e.unreachedDiffer(v)).Caption; strings.Contains(got, "share one score") != c.says {
			t.Errorf("%s: %q", name, got)
		}
		if _, saved := e.saved(); saved != c.says {
			t.Errorf("%s: messages are saved: %t", name, saved)
		}
		if got := strings.Join(e.composeMessages().Lead, " "); strings.Contains(got, "The model of this run has none") == c.says {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestNoWorstRelationByChance checks on many draws of relations that are equally hard that none is called worse.
func TestNoWorstRelationByChance(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 3))
	for range 20 {
		v := evaluationOf(madeRankings(3000, func(i int, r *parquet.Ranking) {
			r.Relation = fmt.Sprint("r", i%60)
			rank := int64(1 + 20*math.Pow(random.Float64(), 3))
			r.RankPessimistic, r.RankOptimistic = rank, rank
		}))
		if sentence := v.worst(); sentence != "" {
			t.Error(sentence)
		}
	}
}

func TestEnumerate(t *testing.T) {
	t.Parallel()
	got := []string{enumerate(nil), enumerate([]string{"a"}), enumerate([]string{"a", "b"}), enumerate([]string{"a", "b", "c"})}
	if diff := cmp.Diff([]string{"", "a", "a and b", "a, b and c"}, got); diff != "" {
		t.Error(diff)
	}
}
