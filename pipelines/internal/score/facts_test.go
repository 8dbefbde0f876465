package score

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/lock"
	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/discover"
	"tagnet/stages/score"
)

// factRows returns the list in a folder of answers.
func factRows(t *testing.T, w, name string) []parquet.Fact {
	t.Helper()
	return rowsOf[parquet.Fact](t, filepath.Join(w, "runs/main/evaluation", name, discover.Table))
}

// TestFacts compares a list with the answers to all queries in both directions.
func TestFacts(t *testing.T) {
	for _, kind := range []string{"large", "large inductive"} {
		t.Run(kind, func(t *testing.T) {
			w := trained(t, kind)
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "all,~all", "--top_k", "5", "--output", "answers")
			out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--top_k", "5", "--most", "100000")
			want := map[string][2]*parquet.Answer{}
			for _, p := range askedRows(t, w, "answers") {
				if p.Known || p.Hops < 0 {
					continue
				}
				key, side := p.Source+" "+p.Relation+" "+p.Entity, 0
				if p.Direction == metrics.Head {
					key, side = p.Entity+" "+p.Relation+" "+p.Source, 1
				}
				both := want[key]
				both[side] = &p
				want[key] = both
			}
			got := factRows(t, w, "facts-all")
			if len(got) != len(want) || len(got) < 100 {
				t.Errorf("%d facts, want %d", len(got), len(want))
			}
			seen := map[string]bool{}
			before := got[0]
			for i, f := range got {
				key := f.Head + " " + f.Relation + " " + f.Tail
				if seen[key] || f.Position != int64(i+1) || f.Score > before.Score || f.Probability == nil || *f.Probability > *before.Probability {
					t.Fatalf("fact %d is %+v after %+v", i, f, before)
				}
				seen[key], before = true, f
				for side, score := range []*float32{f.TailScore, f.HeadScore} {
					p := want[key][side]
					if (p == nil) != (score == nil) || p != nil && (p.Score != *score || p.Hops != f.Hops) {
						t.Fatalf("%+v, want %+v", f, p)
					}
				}
			}
			for _, line := range []string{"a probability is that of being a missing fact", "of that list, made with --top_k 5"} {
				if !strings.Contains(out, line) {
					t.Errorf("no %q in\n%s", line, out)
				}
			}
			checkDiscovery(t, w, got)
			if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--top_k", "5", "--most", "100000"); strings.Contains(out, "wrote ") {
				t.Errorf("the list is made again:\n%s", out)
			}
		})
	}
}

// checkDiscovery checks facts.json against the list, and that nothing else is left in the folder.
func checkDiscovery(t *testing.T, w string, got []parquet.Fact) {
	t.Helper()
	folder := filepath.Join(w, "runs/main/evaluation/facts-all")
	d, err := storage.ReadJSON[metrics.Discovery](t.Context(), filepath.Join(folder, metrics.DiscoveryFile))
	if err != nil || d.TopK != 5 || d.Listed != int64(len(got)) || d.Candidates != d.Listed || d.Fitted == nil || d.HeldOut == nil || d.HeldOut.Listed != d.Listed+d.HeldOut.Facts {
		t.Errorf("%+v, error %v", d, err)
	}
	for name := range pipelinetest.Files(t, folder) {
		if first, _, _ := strings.Cut(filepath.ToSlash(name), "/"); !slices.Contains([]string{"facts", "facts.tsv", "facts.json", "model.json", "manifest.json"}, first) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestFactsOfLists checks that lists of heads and tails, the number of facts and the lowest probability bound a list, and that what it
// has is the same however it is computed.
func TestFactsOfLists(t *testing.T) {
	w := trained(t, "plain")
	heads, tails := file(t, "heads.txt", "e001\ne002\ne003\ne004\ne005\ne006\n"), file(t, "tails.txt", "e004\ne005\ne006\ne007\ne008\n")
	ask := []string{"--workspace", w, "--facts", "next,skip", "--sources", heads, "--candidates", tails, "--force"}
	pipelinetest.Succeed(t, Pipeline(), ask...)
	all := factRows(t, w, "facts-next-skip-heads-tails")
	both := 0
	for _, f := range all {
		if f.Head < "e001" || f.Head > "e006" || f.Tail < "e004" || f.Tail > "e008" || f.Relation == "back" {
			t.Errorf("%+v", f)
		}
		if f.TailScore != nil && f.HeadScore != nil {
			both++
		}
	}
	if both < 10 {
		t.Errorf("%d facts of %d are answers of both queries", both, len(all))
	}
	pipelinetest.Succeed(t, Pipeline(), append(ask, "--threads", "3", "--most", "7")...)
	if got, want := factNames(factRows(t, w, "facts-next-skip-heads-tails")), factNames(all[:7]); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func factNames(rows []parquet.Fact) (names []string) {
	for _, r := range rows {
		names = append(names, r.Head+" "+r.Relation+" "+r.Tail)
	}
	return names
}

// TestFactsWithoutValidation checks that a list without enough validation facts has no probabilities, and is ordered by the lower score.
func TestFactsWithoutValidation(t *testing.T) {
	w := trained(t, "chain")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all")
	if !strings.Contains(out, "facts get no probabilities: fewer than 20 of the validation facts") {
		t.Error(out)
	}
	got := factRows(t, w, "facts-all")
	for i, f := range got {
		if f.Probability != nil || i > 0 && f.Score > got[i-1].Score {
			t.Errorf("%+v", f)
		}
	}
	if len(got) == 0 {
		t.Error("no facts")
	}
	out = pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--threshold", ".5", "--force")
	if !strings.Contains(out, "scores, and --threshold and --missing play no part") || len(factRows(t, w, "facts-all")) != len(got) {
		t.Error(out)
	}
}

// TestFactsOfNoProbability checks what is said of a list that --threshold leaves empty.
func TestFactsOfNoProbability(t *testing.T) {
	w := trained(t, "large")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--threshold", "0.9999999")
	if !strings.Contains(out, "no new fact has a probability of --threshold 0.9999999 or more\n") || strings.Contains(out, "calibration error") || len(factRows(t, w, "facts-all")) > 0 {
		t.Error(out)
	}
}

// TestFactsWithoutCandidates checks that a list of nothing leaves no file of candidates behind.
func TestFactsWithoutCandidates(t *testing.T) {
	w := trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--reach", "1")
	if got := factRows(t, w, "facts-all"); len(got) > 0 {
		t.Errorf("%d facts within a reach of the source alone", len(got))
	}
	files, err := filepath.Glob(filepath.Join(w, "runs/main/evaluation/facts-all/candidates*"))
	if len(files) > 0 || err != nil {
		t.Error(files, err)
	}
}

// TestUnreachedFacts checks that facts between entities that no path connects are listed on demand.
func TestUnreachedFacts(t *testing.T) {
	w := trained(t, "chain")
	count := func(flags ...string) (n int) {
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--facts", "all", "--force"}, flags...)...)
		for _, f := range factRows(t, w, "facts-all") {
			if f.Hops < 0 {
				n++
			}
		}
		return n
	}
	if n, all := count(), count("--unreached"); n != 0 || all == 0 {
		t.Errorf("%d unreached facts, with --unreached %d", n, all)
	}
}

// TestExplainFacts explains the facts of a list, of which some are answers of one query only, and compares with the library.
func TestExplainFacts(t *testing.T) {
	w := trained(t, "plain")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--facts", "all", "--top_k", "3", "--most", "200", "--explain", "--paths", "2")
	folder := filepath.Join(w, "runs/main/evaluation/facts-all")
	facts := factRows(t, w, "facts-all")
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	rows, inverse, explained := rowsOf[parquet.Explanation](t, filepath.Join(folder, score.ExplanationsTable)), 0, 0
	for _, f := range facts {
		query, answer := model.Query{Source: f.Head, Relation: f.Relation}, f.Tail
		if f.TailScore == nil {
			query, answer = model.Query{Source: f.Tail, Relation: f.Relation, Inverse: true}, f.Head
			inverse++
		}
		paths, err := m.Explain(t.Context(), query, answer, pathsKept)
		if err != nil || len(paths) > len(rows) {
			t.Fatalf("%+v: %d paths for %d rows, error %v", f, len(paths), len(rows), err)
		}
		for i, want := range paths {
			r := rows[i]
			if r.Query != f.Position || r.Source != query.Source || r.Relation != f.Relation || (r.Direction == metrics.Head) != query.Inverse || r.Entity != answer || r.Path != int32(i+1) || r.Text != want.Text() {
				t.Fatalf("%+v is explained by %+v, want %v", f, r, want)
			}
			if printed := strings.Contains(out, want.String()+"\n"); f.Position <= 20 && i < 2 && !printed {
				t.Errorf("a path of fact %d is not printed: %v\n%s", f.Position, want, out)
			}
		}
		rows = rows[len(paths):]
		explained += min(1, len(paths))
	}
	if len(rows) > 0 || inverse == 0 || explained < 100 {
		t.Errorf("%d rows too many; %d facts are explained, %d by the query for their head", len(rows), explained, inverse)
	}
	if !strings.Contains(out, "wrote "+filepath.Join(folder, score.ExplanationsFile)) {
		t.Error(out)
	}
}

// TestMistakesOfFacts checks flags that exclude each other or have no meaning.
func TestMistakesOfFacts(t *testing.T) {
	w := trained(t, "plain")
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--facts", "next", "--relation", "next"}, "--facts excludes --relation and --queries"},
		{[]string{"--facts", "next", "--threshold", ".5"}, "--threshold and --missing are about probabilities"},
		{[]string{"--facts", "next", "--known"}, "--facts excludes --known"},
		{[]string{"--facts", "next", "--protocol", "grail"}, "leave it out with --queries, --relation and --facts"},
		{[]string{"--facts", "next", "--walks"}, "--walks needs --explain"},
		{[]string{"--facts", "~next"}, "--facts: a list has no direction"},
		{[]string{"--facts", "nixt"}, "--facts: "},
		{[]string{"--facts", "next", "--most", "0"}, "--most"},
		{[]string{"--facts", "next", "--threshold", "1"}, "--threshold"},
		{[]string{"--facts", "next", "--missing", "-1"}, "--missing"},
		{[]string{"--facts", "next", "--top_k", "0"}, "--top_k"},
		{[]string{"--most", "5"}, "--most needs --facts"},
		{[]string{"--relation", "next", "--unreached"}, "--unreached needs --facts"},
	} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Says: []string{c.says}}, append([]string{"--workspace", w}, c.flags...)...)
	}
}

// TestGraphsOfFacts compares the pipelines of a list with golden files.
func TestGraphsOfFacts(t *testing.T) {
	command.InitBeam()
	merge := discover.MergeParams{Graph: "mem://graph", Split: "test", Folder: "mem://list", Indexes: []string{"candidates"}, Relations: []int32{0}, Lock: lock.Lock{}}
	pipelinetest.Golden(t, "candidates", pipelinetest.Graph(t, BuildCandidates(discover.Params{Folder: "mem://list", Name: "candidates"})))
	pipelinetest.Golden(t, "fit", pipelinetest.Graph(t, BuildFit(merge)))
	pipelinetest.Golden(t, "list", pipelinetest.Graph(t, BuildList(discover.ListParams{MergeParams: merge})))
	pipelinetest.Golden(t, "explained", pipelinetest.Graph(t, BuildList(discover.ListParams{MergeParams: merge, Model: score.Params{Paths: 10}})))
}
