package serve

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tagnet/model"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// ready waits until a server's answers have probabilities, and returns the states that it told before.
func ready(t testing.TB, url string) (before []string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(5 * time.Millisecond) {
		state := read[health](t, send(t, "GET", url+"/healthz", "")).Probabilities
		if state == stateReady {
			return before
		}
		before = append(before, state)
	}
	t.Fatalf("no probabilities after a minute: %q", before[len(before)-1])
	return nil
}

// written waits for the file of a workspace's probabilities, which a server writes once it has them.
func written(t testing.TB, workspace string) (file string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(5 * time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(workspace, answer.ProbabilitiesFolder, "[0-9a-f]*.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	t.Fatal("no file of the probabilities")
	return ""
}

// unfitted returns a workspace with the model of a ring, whose probabilities are not fitted.
func unfitted(t testing.TB) string {
	t.Helper()
	workspace := trained(t)
	if err := os.RemoveAll(filepath.Join(workspace, answer.ProbabilitiesFolder)); err != nil {
		t.Fatal(err)
	}
	return workspace
}

// TestAnswersAreOneNumber compares what is said of a fact in a query of either direction, with the known answers, in a
// list of queries, in a table, and as a triple, with what answer.Model says of it.
func TestAnswersAreOneNumber(t *testing.T) {
	workspace := unfitted(t)
	p := launch(t, workspace)
	ready(t, p.url)
	written(t, workspace)
	m, estimator := scoringtest.Model(t, workspace, kg.All)
	if estimator == nil {
		t.Fatal("the file that the server wrote gives no probabilities")
	}
	tail, other := graph.Query{Source: 7, Relation: 1, Answer: graph.None}, graph.Query{Source: 9, Relation: m.Graph.Inverse(1), Answer: graph.None}
	want, err := m.Ask(t.Context(), []graph.Query{tail, other}, answer.Asking{Best: 5, Known: true, Estimator: estimator})
	if err != nil {
		t.Fatal(err)
	}
	relation := m.KG.Relations[1]
	asked := []string{ask("e007", relation, "k", "5", "known", "true"), ask("e009", "~"+relation, "k", "5", "known", "true")}
	claims := 0
	for i, q := range []graph.Query{tail, other} {
		got := read[result](t, send(t, "GET", p.url+asked[i], ""))
		list := read[results](t, send(t, "POST", p.url+"/answer", `{"k":5,"known":true,"queries":[`+bodyOf(t, got.Source, got.Relation)+`]}`)).Results[0]
		table, err := csv.NewReader(strings.NewReader(send(t, "GET", p.url+asked[i]+"&format=csv", "").text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Answers) != len(want[i].List) || got.Probabilities != stateReady {
			t.Fatalf("%s: %d answers, probabilities %s, want %d", asked[i], len(got.Answers), got.Probabilities, len(want[i].List))
		}
		for j := range got.Answers {
			w := &want[i].List[j]
			side, back := w.Tails, w.Heads
			if i == 1 {
				side, back = back, side
			}
			one := model.Answer{
				Entity: m.View.Entities[w.Entity(q.Relation)], Score: side.Score, Rank: side.Rank, OtherScore: back.Score, OtherRank: back.Rank, Known: w.Known,
			}
			if w.HasProbability {
				one.Probability = &w.Probability
				claims++
			}
			same(t, "query", one, got.Answers[j])
			same(t, "list", one, list.Answers[j])
			same(t, "table", one, tabled(t, table[0], table[j+1]))
			same(t, "triple", one, asTriple(t, p.url, m, w, i == 1))
		}
	}
	if claims == 0 {
		t.Error("no answer has a probability")
	}
}

// bodyOf returns a query of a list.
func bodyOf(t testing.TB, source, relation string) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{"source": source, "relation": relation})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tabled returns the answer of a row below a heading.
func tabled(t testing.TB, heading, row []string) (a model.Answer) {
	t.Helper()
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for i, field := range row {
		switch heading[i] {
		case "answer", "entity":
			a.Entity = field
		case "probability":
			if field != "" {
				p := number(field)
				a.Probability = &p
			}
		case "score":
			a.Score = float32(number(field))
		case "rank":
			a.Rank = int64(number(field))
		case "other_score":
			a.OtherScore = float32(number(field))
		case "other_rank":
			a.OtherRank = int64(number(field))
		case "known":
			a.Known = field == "true"
		}
	}
	return a
}

// asTriple returns what the server says of a fact as a triple, as the answer of a query for its heads, or its tails.
func asTriple(t testing.TB, address string, m *answer.Model, of *answer.Estimated, heads bool) model.Answer {
	t.Helper()
	names := m.View.Entities
	v := url.Values{"head": {names[of.Head]}, "relation": {m.KG.Relations[of.Relation]}, "tail": {names[of.Tail]}}
	s := read[scoreResponse](t, send(t, "GET", address+"/score?"+v.Encode(), "")).Triples[0]
	a := model.Answer{Entity: s.Tail, Probability: s.Probability, Score: s.TailScore, Rank: s.TailRank, OtherScore: s.HeadScore, OtherRank: s.HeadRank,
		Known: s.Known}
	if heads {
		a.Entity, a.Score, a.Rank, a.OtherScore, a.OtherRank = s.Head, a.OtherScore, a.OtherRank, a.Score, a.Rank
	}
	return a
}

// compareTable compares a table of answers that the command score wrote with those of a server.
func compareTable(t testing.TB, table string, got []model.Answer) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 1+usualAnswers || len(got) != usualAnswers {
		t.Fatalf("%d lines, %d answers", len(lines), len(got))
	}
	heading := strings.Split(lines[0], "\t")
	for i, a := range got {
		same(t, "score", a, tabled(t, heading, strings.Split(lines[i+1], "\t")))
	}
}

// same compares two answers to the last digits.
func same(t testing.TB, place string, want, got model.Answer) {
	t.Helper()
	if got.Entity != want.Entity || got.Rank != want.Rank || got.OtherRank != want.OtherRank || got.Known != want.Known {
		t.Errorf("%s: %+v, want %+v", place, got, want)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6+1e-5*math.Abs(b) } // score writes six digits
	if !near(float64(got.Score), float64(want.Score)) || !near(float64(got.OtherScore), float64(want.OtherScore)) {
		t.Errorf("%s: %s has the scores %v and %v, want %v and %v", place, got.Entity, got.Score, got.OtherScore, want.Score, want.OtherScore)
	}
	if (got.Probability == nil) != (want.Probability == nil) {
		t.Fatalf("%s: %s has a probability: %t, want %t", place, got.Entity, got.Probability != nil, want.Probability != nil)
	}
	if got.Probability != nil && !near(*got.Probability, *want.Probability) {
		t.Errorf("%s: %s has the probability %v, want %v", place, got.Entity, *got.Probability, *want.Probability)
	}
}

// TestFit has a workspace without probabilities: a server answers at once, makes them, and writes their file, which the
// next one reads. They follow --missing; with --graph train there are none.
func TestFit(t *testing.T) {
	workspace := unfitted(t)
	first := launch(t, workspace)
	if early := read[result](t, send(t, "GET", first.url+ask("e007", "skip"), "")); len(early.Answers) != usualAnswers {
		t.Errorf("%d answers before there are probabilities", len(early.Answers))
	}
	for _, state := range ready(t, first.url) {
		if !strings.HasPrefix(state, stateFitting) || !strings.HasSuffix(state, "%") {
			t.Errorf("probabilities are %q", state)
		}
	}
	made := written(t, workspace)
	of := func(p *process) float64 {
		best := read[result](t, send(t, "GET", p.url+ask("e007", "skip"), "")).Answers[0]
		if best.Probability == nil || best.Odds != model.Odds(best.Probability) {
			t.Fatalf("the best answer is %+v", best)
		}
		return *best.Probability
	}
	usual, before := of(first), pipelinetest.Read(t, made)
	second := launch(t, workspace, "--missing", "0.001")
	if earlier := ready(t, second.url); len(earlier) > 0 {
		t.Errorf("the second server begins with %q", earlier)
	}
	if rare := of(second); !(rare < usual) {
		t.Errorf("probability %v with --missing 0.001, %v without", rare, usual)
	}
	if after := pipelinetest.Read(t, made); after != before {
		t.Error("the second server writes another file")
	}
	third := launch(t, workspace, "--graph", "train")
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got := read[result](t, send(t, "GET", third.url+ask("e007", "skip"), ""))
		if got.Answers[0].Probability != nil {
			t.Fatalf("with --graph train: %+v", got.Answers[0])
		}
		if strings.HasPrefix(got.Probabilities, stateNone) && strings.Contains(got.Probabilities, "--graph train") {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("probabilities are %q", got.Probabilities)
		}
	}
	pipelinetest.Write(t, made, "{}")
	fourth := launch(t, workspace)
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		state := read[health](t, send(t, "GET", fourth.url+"/healthz", "")).Probabilities
		if strings.HasPrefix(state, stateNone+made+" is damaged") && strings.HasSuffix(state, "; remove this file, and a reload makes it again") {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("probabilities of a damaged file are %q", state)
		}
	}
	pipelinetest.Remove(t, made)
	send(t, "POST", fourth.url+"/reload", "")
	ready(t, fourth.url)
}

// TestFitIsNotKept has probabilities, and says that no file keeps them, where their folder is a link.
func TestFitIsNotKept(t *testing.T) {
	workspace := unfitted(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(workspace, answer.ProbabilitiesFolder)); err != nil {
		t.Fatal(err)
	}
	p := launch(t, workspace)
	var said string
	for !strings.Contains(said, "answers have ") {
		line, err := p.stdout.ReadString('\n')
		if said += line; err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(said, "the fit of probabilities is not kept: writing "+workspace) || !strings.Contains(said, haveProbabilities) {
		t.Errorf("it says\n%s", said)
	}
	if before := ready(t, p.url); len(before) > 0 {
		t.Errorf("probabilities are %q", before)
	}
}

// TestReloadEndsTheFit reloads again and again while requests are answered: each graph's fit ends before the next one
// begins, and the last one's answers get probabilities.
func TestReloadEndsTheFit(t *testing.T) {
	l, address, _ := reloading(t)
	var mu sync.Mutex
	var said []string
	fits := []*server{l.current}
	l.fit = func(s, earlier *server) {
		mu.Lock()
		fits = append(fits, s)
		mu.Unlock() // fit says at once what is known
		s.fit(t.Context(), earlier, func(line string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, line)
		})
	}
	var clients sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got := send(t, "GET", address+ask("Person 05", "knows", "known", "true"), ""); got.status != 200 {
					t.Errorf("%d %s", got.status, got.text)
				}
			}
		})
	}
	for range 9 {
		if got := send(t, "POST", address+"/reload", ""); got.status != 200 {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
	close(done)
	clients.Wait()
	mu.Lock()
	before := fits[1 : len(fits)-1]
	mu.Unlock()
	last := l.current
	<-last.fitting.ended
	for i, s := range before {
		select {
		case <-s.fitting.ended:
		default:
			t.Errorf("the fit of server %d continues beside that of the last one", i+1)
		}
	}
	if state := last.probabilities(); state != stateReady && !strings.HasPrefix(state, stateNone) {
		t.Errorf("at the end, probabilities are %q, said %q", state, said)
	}
}

// TestFitEndsWithTheServer stops a fit whose context has ended.
func TestFitEndsWithTheServer(t *testing.T) {
	s, _ := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.fit(ctx, nil, func(line string) { t.Errorf("it says %q", line) })
	s.stopFit()
	if state := s.probabilities(); !strings.HasPrefix(state, stateFitting) {
		t.Errorf("probabilities are %q", state)
	}
}
