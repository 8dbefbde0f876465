package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// askedRows returns the answers of an ask.
func askedRows(t *testing.T, w, name string) []parquet.Answer {
	t.Helper()
	return stagetest.Rows[parquet.Answer](t, filepath.Join(w, "runs/main/answers", name, predict.AnswersTable))
}

func TestUserQueries(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries := scoringtest.File(t, "queries.tsv", "e050\tskip\r\ne003\t~next\ne001\tnext\ne050\tskip\r\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "3")
	for _, want := range []string{"e050  skip  ?", "e003  ~next  ?", "e055", "asked backward: 30 more propagations"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(w, "runs/main/answers", "queries", "answers.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 1+3*3 {
		t.Fatalf("%d lines, want a head and 9:\n%s", len(lines), text)
	}
	for i, want := range map[int]string{1: "0\te050\tskip\t1\te", 4: "1\te003\t~next\t1\te", 7: "2\te001\tnext\t1\te"} {
		if !strings.HasPrefix(lines[i], want) || strings.Contains(lines[i], "\ttrue\t") {
			t.Errorf("line %d is %q, want a new answer after %q", i+1, lines[i], want)
		}
	}
	again := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "3")
	if again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
		t.Errorf("a second run says\n%s", again)
	}
	if !strings.Contains(out, "duplicate queries: 1") {
		t.Errorf("the duplicate query is not reported in\n%s", out)
	}
	other := scoringtest.File(t, "other.tsv", "e007\tback\n")
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", other, "--known"); !strings.Contains(out, "e006") {
		t.Errorf("other queries are answered by\n%s", out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", scoringtest.Trained(t, "inductive"),
		"--queries", scoringtest.File(t, "inductive.tsv", "o020\tskip\n"), "--top_k", "1", "--known"); !strings.Contains(out, "o022") {
		t.Errorf("the inference graph answers\n%s", out)
	}
}

// TestImplausibleAnswersAreNotPrinted checks that answers that are not reached, or less probable than .001, are in the
// files, which have as many as --top_k asks for, but not printed.
func TestImplausibleAnswersAreNotPrinted(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries := scoringtest.File(t, "queries.tsv", "e003\tskip\ne004\tnext\n")
	const known = "\n      none that is new; --known lists the known ones, too: 1\n"
	for flags, none := range map[string]int{ // queries without a printed answer
		"--top_k 50": 0, "--top_k 50 --known": 0, "--top_k 50 --graph train": 0, "--top_k 1": 1, "--top_k 50 --missing .0001": 2,
		"--candidates " + scoringtest.File(t, "far.txt", "e030\ne031\n"): 2,
	} {
		out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--queries", queries}, strings.Fields(flags)...)...)
		var want []string
		rows := askedRows(t, w, "queries")
		for _, r := range rows {
			if r.Known || r.Hops >= 0 && (r.Probability == nil || *r.Probability >= .001) {
				want = append(want, fmt.Sprintf("%4d  %s", r.Position, r.Entity))
			}
		}
		printed := regexp.MustCompile(`(?m)^ *[0-9]+  e\d+`).FindAllString(out, -1)
		if diff := cmp.Diff(want, printed); diff != "" || strings.Count(out, known) != none {
			t.Errorf("%s: (-want +got)\n%s\n%s", flags, diff, out)
		}
		left := fmt.Sprintf("%d answers that are not reached, or have", len(rows)-len(want))
		if len(rows)-len(want) == 1 {
			left = "1 answer that is not reached, or has"
		}
		says := "\nleft out above, but in the files: " + left + " a probability under 0.001\n"
		if len(rows) == len(want) || !strings.Contains(out, says) {
			t.Errorf("%s: no %q in\n%s", flags, says, out)
		}
	}
}

// TestAskForMany compares the answers to many queries with the rules, by sources, relations, candidates, graph, and
// what becomes of known answers.
func TestAskForMany(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	few := []string{"e003", "e017", "e042"}
	fewFile := scoringtest.File(t, "few.txt", "e042\r\ne003\ne017\ne003\n\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "next", "--sources", fewFile, "--output", "first") // which fits probabilities
	oracles := map[string]*oracle{kg.All: {t: t}, "train": {t: t}}
	for on, o := range oracles {
		o.m, o.estimator = scoringtest.Model(t, w, on)
	}
	if oracles[kg.All].estimator == nil {
		t.Fatal("there are no probabilities")
	}
	everyone, relations := oracles[kg.All].m.View.Entities, oracles[kg.All].m.KG.Relations
	for _, c := range []struct {
		flags                          []string
		name                           string
		sources, relations, candidates []string
		graph                          string
		k                              int
		known                          bool
	}{
		{[]string{"--relation", "all"}, "relation-all", everyone, relations, nil, kg.All, 4, false},
		{[]string{"--relation", "skip", "--sources", fewFile, "--known"}, "relation-skip-known-few", few, []string{"skip"}, nil, kg.All, 12, true},
		{[]string{"--relation", "~next,next", "--sources", fewFile}, "relation-inverse-next-next-few", few, []string{"next", "~next"}, nil, kg.All, 1, false},
		{[]string{"--relation", "skip", "--candidates", fewFile, "--output", "mine"}, "mine", everyone, []string{"skip"}, few, kg.All, 2, false},
		{[]string{"--relation", "~skip", "--graph", "train", "--known"}, "relation-inverse-skip-known-train", everyone, []string{"~skip"}, nil, "train", 4,
			true},
	} {
		flags := append([]string{"--workspace", w, "--top_k", fmt.Sprint(c.k)}, c.flags...)
		out := pipelinetest.Succeed(t, Pipeline(), flags...)
		var want []parquet.Answer
		for i, source := range c.sources {
			for j, relation := range c.relations {
				want = append(want, oracles[c.graph].answers(int64(i*len(c.relations)+j), source, relation, c.candidates, c.k, c.known)...)
			}
		}
		got := askedRows(t, w, c.name)
		if c.known && c.graph == kg.All {
			storagetest.EveryField(t, got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-rules +rows):\n%s", c.flags, diff)
		}
		text := pipelinetest.Read(t, w, "runs/main/answers", c.name, "answers.tsv")
		if text != evaluation.AnswersHeading+string(evaluation.AnswerLines(got)) {
			t.Errorf("%v: answers.tsv has other answers than the table:\n%s", c.flags, text)
		}
		if again := pipelinetest.Succeed(t, Pipeline(), flags...); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
			t.Errorf("%v: a second run says\n%s\nthe first said\n%s", c.flags, again, out)
		}
		if fitted := c.graph == kg.All; fitted != strings.Contains(out, "probabilities presume ") ||
			fitted == strings.Contains(out, "no probabilities: these are fitted in the graph of all facts") {
			t.Errorf("%v: about probabilities it says\n%s", c.flags, out)
		}
	}
	// The rows of one query are those of --queries.
	queries := scoringtest.File(t, "queries.tsv", "e042\t~next\ne003\tnext\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "1")
	many := askedRows(t, w, "relation-inverse-next-next-few")
	for _, r := range askedRows(t, w, "queries") {
		r.Query = map[int64]int64{0: 5, 1: 0}[r.Query]
		if !slices.ContainsFunc(many, func(q parquet.Answer) bool { return cmp.Equal(r, q) }) {
			t.Errorf("%+v is not among the answers to many queries", r)
		}
	}
}

// TestAsksAreKeptApart checks that another ask does not overwrite the answers to the first, and that a list in another
// order is the same ask.
func TestAsksAreKeptApart(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	list := scoringtest.File(t, "list.txt", "e003\ne017\n")
	ask := []string{"--workspace", w, "--relation", "next", "--sources", list}
	pipelinetest.Succeed(t, Pipeline(), ask...)
	want := pipelinetest.Files(t, filepath.Join(w, "runs/main/answers/relation-next-list"))
	pipelinetest.Write(t, list, "e017\ne003\ne017\n")
	if out := pipelinetest.Succeed(t, Pipeline(), ask...); strings.Contains(out, "wrote ") {
		t.Errorf("the same list in another order is answered again:\n%s", out)
	}
	pipelinetest.Write(t, list, "e017\ne004\n")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), ask...)
	if code != 1 || !strings.Contains(stderr, "sources") || !strings.Contains(stderr, "--force") || !strings.Contains(stderr, "--output NAME") {
		t.Errorf("another ask ends with %d and says %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/answers/relation-next-list")), want)
	pipelinetest.Succeed(t, Pipeline(), append(ask, "--output", "other.1")...)
	if got := len(askedRows(t, w, "other.1")); got < 20 {
		t.Errorf("%d rows", got)
	}
}

// TestNoAnswers asks where the only candidate is the source.
func TestNoAnswers(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	list := scoringtest.File(t, "list.txt", "e003\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "next", "--sources", list, "--candidates", list, "--explain")
	if !strings.Contains(out, "no query has an answer: every candidate is the query's source") {
		t.Errorf("it says\n%s", out)
	}
	folder := "runs/main/answers/relation-next-list-list"
	if text := pipelinetest.Read(t, w, folder, "answers.tsv"); text != evaluation.AnswersHeading {
		t.Errorf("answers.tsv is\n%s", text)
	}
}

// TestAskAboutTypes asks about the entities of a type for those of another, and why.
func TestAskAboutTypes(t *testing.T) {
	w := scoringtest.Trained(t, "typed")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "~next", "--sources", "type:Fizz", "--candidates", "type:Rest", "--top_k", "2",
		"--explain", "--known")
	if !strings.Contains(out, "queries: 20 (sources: 20, relations: 1)") || !strings.Contains(out, "here e005 -~back-> e006\n") { // the known answer
		t.Errorf("it says\n%s", out)
	}
	rows := askedRows(t, w, "relation-inverse-next-known-Fizz-Rest")
	if len(rows) != 20*3 {
		t.Errorf("%d rows", len(rows))
	}
	for _, p := range rows {
		var source, answer int
		fmt.Sscanf(p.Source+" "+p.Entity, "e%d e%d", &source, &answer)
		if source%3 != 0 || answer%3 == 0 || p.Known != (answer == (source+59)%60) {
			t.Errorf("row %+v", p)
		}
	}
	explained := stagetest.Rows[parquet.Explanation](t, filepath.Join(w, "runs/main/answers", "relation-inverse-next-known-Fizz-Rest", "explanations"))
	if len(explained) == 0 {
		t.Error("no explanations")
	}
	if _, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--relation", "next", "--sources", "type:Fiz"); !strings.Contains(stderr,
		`--sources: unknown type "Fiz"; closest: "Fizz"`) {
		t.Errorf("it says %s", stderr)
	}
}

// TestStandardInput asks the queries that are piped in.
func TestStandardInput(t *testing.T) {
	before := os.Stdin
	defer func() { os.Stdin = before }()
	pipe := func(text string) {
		var err error
		if os.Stdin, err = os.Open(scoringtest.File(t, "in", text)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Stdin.Close() })
	}
	w := scoringtest.Trained(t, "plain")
	pipe("e003\t~next\n\n")
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", "-", "--top_k", "1", "--known"); !strings.Contains(out, "e002") {
		t.Errorf("it is answered by\n%s", out)
	}
	pipe("e003\tnext\nnobody\tnext\n")
	if _, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--queries", "-"); !strings.HasPrefix(stderr,
		"standard input:2: unknown entity \"nobody\"") {
		t.Errorf("it says %s", stderr)
	}
	pipe("e003\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "next", "--sources", "-")
	if rows := askedRows(t, w, "relation-next-input"); len(rows) == 0 || rows[0].Source != "e003" {
		t.Errorf("the answers about standard input's names are %v", rows)
	}
}

// TestTopKBeyondTheGraph asks for more answers than there are entities, in memory that suffices for all entities.
func TestTopKBeyondTheGraph(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries := scoringtest.File(t, "queries.tsv", "e003\tnext\n")
	for _, flags := range [][]string{{"--queries", queries}, {"--relation", "next"}} {
		pipelinetest.Succeed(t, Pipeline(), append(flags, "--workspace", w, "--top_k", "2000000000", "--memory", "300")...)
	}
	if got := len(askedRows(t, w, "queries")); got != 58 {
		t.Errorf("%d answers, want all but the source and the known one", got)
	}
}

// TestAllUnknownNamesAtOnce checks that one run tells of every unknown name of a file with its line, and of very many
// the first ones and the number.
func TestAllUnknownNamesAtOnce(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	for name, c := range map[string]struct {
		text  string
		flags []string
		lines []string // how each line of the error begins
	}{
		"queries": {"e003\tnext\nnobody\tnexd\ne004\tnext\nsomebody\tnext\n", []string{"--queries"},
			[]string{`F:2: unknown entity "nobody"; closest: `, `F:2: unknown relation "nexd"; closest: "next"`, `F:4: unknown entity "somebody"; closest: `,
				"F: 3 names are unknown"}},
		"triples": {"e003\tnext\tnobody\nsomebody\tnext\te001\n", []string{"--queries"},
			[]string{`F:1: unknown entity "nobody"`, `F:2: unknown entity "somebody"`, "F: 2 names are unknown"}},
		"names": {"nobody\ne003\nsomebody\n", []string{"--relation", "next", "--sources"},
			[]string{`F:1: unknown entity "nobody"`, `F:3: unknown entity "somebody"`, "F: 2 names are unknown"}},
		"many": {"e003\tnext\n" + strings.Repeat("nobody\tnext\n", 1500), []string{"--queries"},
			append(slices.Repeat([]string{"F:"}, 20), "F: 1,500 names are unknown, of which the first 20 are above")},
	} {
		t.Run(name, func(t *testing.T) {
			list := scoringtest.File(t, "list.txt", c.text)
			code, _, stderr := pipelinetest.Run(t, Pipeline(), append(append([]string{"--workspace", w}, c.flags...), list)...)
			got := strings.Split(strings.TrimSpace(stderr), "\n")
			if code != 1 || len(got) != len(c.lines) {
				t.Fatalf("exit code %d, it says\n%s", code, stderr)
			}
			for i, want := range c.lines {
				if want = strings.Replace(want, "F:", list+":", 1); !strings.HasPrefix(got[i], want) {
					t.Errorf("line %d is %q, want %q", i+1, got[i], want)
				}
			}
		})
	}
}
