package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

// committed is the folder of the committed experiments.
const committed = ".."

// TestCurrent checks that the committed results give the committed pages and figures.
func TestCurrent(t *testing.T) {
	t.Parallel()
	files, err := pages(t.Context(), committed)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(committed, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current with the results (error %v): make results writes it", name, err)
		}
	}
	drawn, err := os.ReadDir(filepath.Join(committed, figuresFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range drawn {
		name := figuresFolder + "/" + f.Name()
		if files[name] == nil || !bytes.Contains(files["RESULTS.md"], []byte(`"`+name+`"`)) {
			t.Errorf("no page shows %s: remove it", name)
		}
	}
}

// folder returns a copy of the committed folder of the experiments, beside copies of the others.
func folder(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "infra")
	for _, name := range []string{"experiments", "bench", "truth"} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "experiments")
}

// replace replaces a text in a file of a folder, until restore is called.
func replace(t *testing.T, folder, name, old, replacement string) (restore func()) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s lacks %q", name, old)
	}
	write(strings.Replace(string(text), old, replacement, 1))
	return func() { write(string(text)) }
}

// TestMissing makes the pages without some results: their cells have dashes, and the texts count what is left.
func TestMissing(t *testing.T) {
	t.Parallel()
	root := folder(t)
	for _, name := range []string{
		"results/WN18RR/fixed-seed-1.json", "results/fb237_v1/astar-seed-1.json", "results/fb237_v1/astar-seed-2.json", "results/fb237_v1/astar-seed-3.json",
		"zeroshot/results/umls/50g.json", "zeroshot/results/kinship/zero-tuned.json", "reach/results/WN18RR_v1/5.json",
		"../bench/results/score-zero-umls.json", "../truth/results/tutorial-own.json",
	} {
		if err := os.Remove(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	arguments := []string{"--folder", root}
	if err := run(t.Context(), arguments, &out, &out); err != nil {
		t.Fatal(err)
	}
	measured, err := filepath.Glob("../../truth/results/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, wanted := range map[string][]string{
		"RESULTS.md": {
			"**50 are measured here**", "20 are missing", "<br>2 of 3 seeds", "| A*Net | –<br>(.535) |",
			"| fb237_v1, A*Net | 0 of 3 | Hits@10 | – | .535 | – | – | – |  |  |  |  | `--only 'fb237_v1/astar-seed-*'` |",
		},
		"ZEROSHOT.md": {"| umls | .696 | .896 | .668 | .860 | – | – | .773 | .911 |", "**mean of 24**", "**mean of 10**",
			"| kinship | .430 | .797 | 26.2 | – | – | – | – | – | – | – | – | – |"},
		"../bench/BENCHMARKS.md": {"| score UMLS with `zero` | 1,322 queries | not measured |  |  |  |  | `tagnet score", "9 results on"},
		"../truth/TRUTH.md":      {fmt.Sprintf("%d settings", len(measured)-1)},
	} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if !strings.Contains(out.String(), filepath.Join(root, filepath.FromSlash(name))) {
			t.Errorf("that %s is written is not printed", name)
		}
	}
	if err := run(t.Context(), append(arguments, "--check"), &out, &out); err != nil {
		t.Errorf("after they were written: %v", err)
	}
	replace(t, root, "RESULTS.md", "# Results", "# Result")
	if err := run(t.Context(), append(arguments, "--check"), &out, &out); err == nil ||
		!strings.Contains(err.Error(), "not current with the results: RESULTS.md") {
		t.Errorf("after a change: error %v", err)
	}
}

// TestFrontier makes the table of train --minutes from results and earlier points: those of a choice in the
// order of their queries.
func TestFrontier(t *testing.T) {
	t.Parallel()
	traits := engine.Measured{Made: []byte(`{"facts": 9, "entities": 5, "relations": 2, "answers": 1.5}`)}
	training := func(queries int64, mrr float64) *engine.Result {
		scored, trained := &engine.Evaluation{}, &engine.Training{Queries: queries}
		if scored.Pessimistic.MRR = mrr; queries == 0 {
			trained = nil
		}
		return &engine.Result{Commands: map[string]engine.Measured{"traits": traits, "train": {Training: trained}, "score": {Evaluation: scored}}}
	}
	p := &frontierPage{
		Frontier: lists.Frontier{
			Choices: []lists.Choice{{Name: "small", Flags: "--layers 4"}, {Name: "zero", Flags: "--from zero"}},
			Studied: []lists.Studied{
				{Name: "a", Trainings: map[string][]string{"zero": {"untrained"}, "small": {"2x10", "2x5", "2x7"}},
					Earlier: map[string]map[string]float64{"small": {"15": .5}}},
				{Name: "without results", Earlier: map[string]map[string]float64{"small": {"15": .5}}},
				{Name: "b", Traits: lists.Traits{Facts: 8, Entities: 4, Relations: 1, Answers: 2}, Earlier: map[string]map[string]float64{"small": {"15": .5}}},
			},
		},
		results: map[string]*engine.Result{
			"a/small-2x10": training(18, .75), "a/small-2x5": training(10, .4375),
			"a/zero-untrained": training(0, .25),
		},
	}
	table, err := p.table()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(table), "\n")
	const a = "a\t9\t5\t2\t1.5\t"
	want := a + "--layers 4\t10\t0.4375\n" + a + "--layers 4\t15\t0.5000\n" + a + "--layers 4\t18\t0.7500\n" + a + "--from zero\t0\t0.2500\n" +
		"b\t8\t4\t1\t2\t--layers 4\t15\t0.5000\n"
	if got := strings.Join(lines[2:], ""); got != want {
		t.Errorf("the table has\n%s\nwant\n%s", got, want)
	}
	p.Studied[0].Earlier["small"]["many"] = .5
	if _, err := p.table(); err == nil || !strings.Contains(err.Error(), "frontier.json: a: earlier: small") {
		t.Errorf("error %v", err)
	}
}

// TestMistakes checks what the inputs of the pages must not say.
func TestMistakes(t *testing.T) {
	t.Parallel()
	root := folder(t)
	for _, c := range []struct{ file, old, new, want string }{
		{"results/WN18RR_v1/fixed-seed-1.json", `"dropout": "0.5"`, `"dropout": "0.7"`,
			`the result of WN18RR_v1/fixed-seed-1 is stale: dropout "0.7" instead of "0.5"`},
		{"results/WN18RR_v1/fixed-seed-1.json", `"run"`, `"ran"`, `unknown key "ran"`},
		{"own.json", "\"deep\",\n      \"datasets\": [{\"dataset\": \"WN18RR\"", "\"full\",\n      \"datasets\": [{\"dataset\": \"FB15k-237\"",
			"FB15k-237/full is in paper-rest.json and in own.json"},
		{"notes.md", "## WN18RR_v4/window-astar", "## WN18RR_v4/window-astr", `no list has "WN18RR_v4/window-astr"; the closest is WN18RR_v4/window-astar`},
		{"notes.md", "## WN18RR/full", "## WN18RR/deep", "WN18RR/deep has two notes"},
		{"../truth/results/shop-10.json", `"precisions": [`, `"precisions": 1, "x": [`, "shop-10"},
	} {
		restore := replace(t, root, c.file, c.old, c.new)
		if _, err := pages(t.Context(), root); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: error %v, want %q", c.file, c.new, err, c.want)
		}
		restore()
	}
	if _, err := pages(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "--folder") {
		t.Errorf("an empty folder: error %v", err)
	}
}

// trained returns a model with results of these test metrics.
func trained(hits ...float64) *model {
	m := &model{Training: lists.Training{Dataset: "d", Experiment: "fixed"}, Seeds: len(hits), List: paperFile}
	m.Configuration.Layers = 2
	for i, h := range hits {
		e := &engine.Evaluation{Distinct: 10, Messages: int64(30 * (i + 1))}
		e.Queries = 376
		e.Pessimistic = metrics.Metrics{MRR: h / 2, Hits1: h / 4, Hits3: h / 2, Hits10: h}
		m.Results = append(m.Results, &engine.Result{Graph: &engine.Graph{Edges: 30}, Kernels: []string{"avx2"}, Commands: map[string]engine.Measured{
			test: {Evaluation: e}, "train": {CPUSeconds: float64(i),
				Training: &engine.Training{Epochs: 1, BestEpoch: 1, Curve: []engine.Epoch{{Valid: &metrics.Metrics{MRR: h}}}}},
		}})
	}
	return m
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	m := trained(.8, .84)
	if s := m.Metric("Hits@10"); !(s.Mean-.82 <= 1e-9 && .82-s.Mean <= 1e-9) || plus(s) != ".820 ± .028" || three(s.Error()) != ".020" {
		t.Errorf("the spread is %+v, %s", s, plus(s))
	}
	if got := m.Sent(); !(got-.075 <= 1e-9 && .075-got <= 1e-9) { // 30 and 60 of 10 x 2 x 30
		t.Errorf("%v of NBFNet's messages are sent, want .075", got)
	}
	if s := m.CPU(); s.N != 1 || s.Mean != 1 {
		t.Errorf("the processor time, which one result lacks, is %+v", s)
	}
	// 376 queries leave a standard error of .020, the seeds another one.
	for paper, want := range map[float64]string{.81: "✓", .82: "✓", .8204: "✓", .845: "≈", .86: "▼"} {
		if n := newNumber(m, "", "Hits@10", paper); n.Sign() != want || three(n.OfQueries) != ".020" {
			t.Errorf("against %v the sign is %q, want %q; the standard error of the queries is %v", paper, n.Sign(), want, n.OfQueries)
		}
	}
	if n := newNumber(trained(), "", "MRR", .5); n.Sign() != "" || plus(n.Ours) != "–" {
		t.Errorf("without a result the sign is %q of %s", n.Sign(), plus(n.Ours))
	}
	// The squares of the inverse ranks are at most .2 + .2/4 + .4/16 + .2/121 on the mean.
	if n := newNumber(trained(.8), "", "MRR", .5); three(n.StandardError()) != ".018" {
		t.Errorf("the standard error of the MRR is %v", n.StandardError())
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		".563": three(.5631), "1.000": three(1), "+.002": signed(.002), "−.002": signed(-.002), "+.000": signed(-.0001), "5.2%": percent(.0523),
		"71 s": duration(spread{N: 1, Mean: 71}), "16 min": duration(spread{N: 1, Mean: 960}), "3.2 h": duration(spread{N: 1, Mean: 11600}),
		"–":         duration(spread{}),
		"1,234,567": grouped(1234567), "123": grouped(123), "0.25": ratio(1, 4), "2.5 µs": each(.005, 2000), "2.5 ms": each(5, 2000),
		"0.005%": trimmed([]float64{.00005}, 1), "73%": trimmed([]float64{0, .73}, 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
