package split

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
)

// people returns facts like those of WN18: parent_of and child_of are inverse, spouse_of is symmetric, knows is none
// of these, and works_at and employed_by are nearly the same. Each entity has many facts.
func people(n int) []string {
	random := rand.New(rand.NewPCG(1, 1))
	var lines []string
	name := func() string { return fmt.Sprintf("p%d", random.IntN(n)) }
	for range 6 * n {
		a, b := name(), name()
		switch random.IntN(4) {
		case 0:
			lines = append(lines, a+"\tparent_of\t"+b, b+"\tchild_of\t"+a)
		case 1:
			lines = append(lines, a+"\tspouse_of\t"+b, b+"\tspouse_of\t"+a)
		case 2:
			lines = append(lines, a+"\tknows\t"+b)
		case 3:
			lines = append(lines, a+"\tworks_at\t"+b)
			if random.IntN(20) > 0 {
				lines = append(lines, a+"\temployed_by\t"+b)
			}
		}
	}
	return lines
}

// divide divides lines and returns the sides, without numbers and sorted.
func divide(t *testing.T, lines []string, shares [3]float64, seed int64) ([3][]string, counts.Division, error) {
	t.Helper()
	return divideBut(t, lines, shares, seed, "")
}

// divideBut divides lines like divide, but those of a relation.
func divideBut(t *testing.T, lines []string, shares [3]float64, seed int64, kept string) ([3][]string, counts.Division, error) {
	t.Helper()
	root := "mem://" + t.Name()
	var text bytes.Buffer
	w := bufio.NewWriter(&text)
	for i, line := range lines {
		f := bytes.Split([]byte(line), []byte("\t"))
		triples.WriteNumbered(w, triples.Triple{Head: f[0], Relation: f[1], Tail: f[2]}, i+1)
	}
	w.Flush()
	p := Params{From: triples.Chunk{URL: root + "/all", Original: "all.csv"}, To: [3]string{root + "/train", root + "/valid", root + "/test"}, Shares: shares,
		Seed: seed, Kept: kept}
	if err := storage.WriteFile(t.Context(), p.From.URL, text.Bytes()); err != nil {
		t.Fatal(err)
	}
	s, err := Divide(t.Context(), p)
	var sides [3][]string
	if err != nil {
		return sides, s, err
	}
	for i, url := range p.To {
		chunk := triples.Chunk{URL: url, Original: "all.csv"}
		err := chunk.Read(t.Context(), func(line int, f triples.Triple) error {
			if f.Line() != lines[line-1] {
				t.Errorf("%q has the number of %q", f.Line(), lines[line-1])
			}
			sides[i] = append(sides[i], f.Line())
			return nil
		}, nil)
		if err != nil && len(sides[i]) > 0 {
			t.Fatal(err)
		}
		slices.Sort(sides[i])
	}
	return sides, s, nil
}

func TestDivide(t *testing.T) {
	lines := people(300)
	lines = append(lines, lines[:50]...)                                            // repetitions
	lines = append(lines, "p1\trare\tp2", "lonely\tknows\tp1", "lonely\tknows\tp2") // in few facts
	sides, s, err := divide(t, lines, [3]float64{80, 10, 10}, 7)
	if err != nil {
		t.Fatal(err)
	}
	if total := len(sides[0]) + len(sides[1]) + len(sides[2]); total != len(lines) {
		t.Errorf("%d facts of %d", total, len(lines))
	}
	for i, want := range [3]float64{.8, .1, .1} {
		if got := float64(len(sides[i])) / float64(len(lines)); got < want-.03 || got > want+.03 {
			t.Errorf("side %d has a share of %.3f, want %.1f", i, got, want)
		}
	}
	if s.NearInverse != 3 || s.NearSame != 2 || s.Sampled || len(s.Pairs) != 3 {
		t.Errorf("%+v", s)
	}
	for i, want := range []counts.Pair{{Relation: "child_of", Other: "parent_of", Inverse: true, Share: 1},
		{Relation: "employed_by", Other: "works_at", Inverse: false, Share: 0}, {Relation: "spouse_of", Other: "spouse_of", Inverse: true, Share: 1}} {
		got := s.Pairs[i]
		if want.Share == 0 {
			got.Share = 0
		}
		if got != want {
			t.Errorf("pair %+v, want %+v", s.Pairs[i], want)
		}
	}
	side := map[string]int{}
	trained := map[string]bool{}
	for i, list := range sides {
		for _, line := range list {
			if other, found := side[line]; found && other != i {
				t.Errorf("%q is on two sides", line)
			}
			side[line] = i
			for _, name := range strings.Split(line, "\t") {
				if i == train {
					trained[name] = true
				} else if !trained[name] {
					t.Errorf("%q: %s is in no training fact", line, name)
				}
			}
		}
	}
	partner := map[string]string{"parent_of": "~child_of", "child_of": "~parent_of", "spouse_of": "~spouse_of", "works_at": "employed_by",
		"employed_by": "works_at"}
	divided, held := 0, 0
	for line, i := range side {
		f := strings.Split(line, "\t")
		other := f[0] + "\t" + partner[f[1]] + "\t" + f[2]
		if relation, inverse := strings.CutPrefix(partner[f[1]], "~"); inverse {
			other = f[2] + "\t" + relation + "\t" + f[0]
		}
		if j, found := side[other]; found && i != j {
			divided++
		}
		if i != train {
			held++
		}
	}
	if divided > 0 || held < 100 {
		t.Errorf("%d facts are given away by one on another side; %d are held out", divided, held)
	}
}

// TestDivideDependsOnFactsAlone changes the order of lines, and adds facts elsewhere in the graph.
func TestDivideDependsOnFactsAlone(t *testing.T) {
	lines := people(100)
	want, _, err := divide(t, lines, [3]float64{8, 1, 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 2))
	for range 5 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		got, _, err := divide(t, lines, [3]float64{80, 10, 10}, 3)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("another order: %v %s", err, diff)
		}
	}
	more := slices.Clone(lines)
	for i := range 100 {
		more = append(more, fmt.Sprintf("x%d\tknows\tx%d", i%10, i%7))
	}
	got, _, err := divide(t, more, [3]float64{80, 10, 10}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range got {
		if kept := slices.DeleteFunc(list, func(line string) bool { return line[0] == 'x' }); !slices.Equal(kept, want[i]) {
			t.Errorf("side %d changed with facts about other entities", i)
		}
	}
	if other, _, err := divide(t, lines, [3]float64{80, 10, 10}, 4); err != nil || cmp.Equal(other, want) {
		t.Errorf("another seed divides alike, %v", err)
	}
}

// TestClusters follows pairs in any order, with the pairs of more relations than could be renamed for each pair.
func TestClusters(t *testing.T) {
	pair := func(a, b int32) nearPair { return nearPair{idPair: idPair{a: a, b: b}} }
	for _, c := range []struct {
		pairs []nearPair
		want  []int32
	}{
		{nil, []int32{-1, -1, -1, -1, -1, -1}},
		{[]nearPair{pair(2, 2)}, []int32{-1, -1, 2, -1, -1, -1}},
		{[]nearPair{pair(4, 5), pair(1, 3), pair(3, 5)}, []int32{-1, 1, -1, 1, 1, 1}},
		{[]nearPair{pair(0, 5), pair(2, 4), pair(1, 4)}, []int32{0, 1, 1, -1, 1, 0}},
		{[]nearPair{pair(3, 5), pair(2, 3), pair(0, 2), pair(0, 5)}, []int32{0, -1, 0, 0, -1, 0}},
	} {
		if diff := cmp.Diff(c.want, clusters(6, c.pairs)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.pairs, diff)
		}
	}
	const relations = 1 << 21
	var pairs []nearPair
	for id := range int32(relations) {
		pairs = append(pairs, pair(id/2, id))
	}
	slices.Reverse(pairs)
	for id, number := range clusters(relations, pairs) {
		if number != 0 {
			t.Fatalf("relation %d is in cluster %d", id, number)
		}
	}
}

// TestDivideTooLittle checks that other shares are advised only where they can help.
func TestDivideTooLittle(t *testing.T) {
	few := []string{"a\tr\tb", "b\tr\tc", "c\tr\td"}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"a path": {few, "; give it more facts, other shares or another --seed"},
		"no entity in two facts": {[]string{"a\tr\tb", "c\tr\td"},
			"all.csv: no fact can be held out: each has a name that no other fact has; leave --split out"},
		"each relation in one":    {[]string{"a\tr\tb", "b\ts\tc", "c\tt\ta"}, "; leave --split out"},
		"a star":                  {[]string{"hub\tr\ta", "hub\tr\tb", "hub\tr\tc"}, "; leave --split out"},
		"each fact twice":         {[]string{"a\tr\tb", "a\tr\tb", "c\tr\td", "c\tr\td"}, "; leave --split out"},
		"each fact and its other": {[]string{"a\tp\tb", "b\tc\ta", "d\tp\te", "e\tc\td"}, "; leave --split out"},
	} {
		_, _, err := divide(t, c.lines, [3]float64{1, 1e-9, 1e-9}, 1)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// TestRelationsWithoutTestFacts checks that a division names them.
func TestRelationsWithoutTestFacts(t *testing.T) {
	lines := people(300)
	var want []string
	for i := range 60 {
		name := fmt.Sprintf("rare%02d", i)
		want = append(want, name)
		for j := range 6 {
			lines = append(lines, fmt.Sprintf("p%d\t%s\tp%d", i, name, i+j+1))
		}
	}
	sides, s, err := divide(t, lines, [3]float64{60, 20, 20}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range sides[test] {
		want = slices.DeleteFunc(want, func(name string) bool { return strings.Contains(line, name) })
	}
	if s.Untested != len(want) || len(want) <= maxNames || !slices.Equal(s.UntestedNames, want[:maxNames]) {
		t.Errorf("%d relations have no test fact, %q, want %q", s.Untested, s.UntestedNames, want)
	}
}

// TestSampleDependsOnFactsAlone has more pairs of entities than are compared.
func TestSampleDependsOnFactsAlone(t *testing.T) {
	facts := make([]fact, 0, 3*maxSample)
	for i := range uint64(3 * maxSample / 2) {
		facts = append(facts, fact{relation: 0, head: 2 * i, tail: 2*i + 1, pair: i}, fact{relation: 1, head: 2*i + 1, tail: 2 * i, pair: i, backwards: true})
	}
	find := func() ([]nearPair, int, uint64) {
		s := newSample()
		for _, f := range facts {
			s.add(f)
		}
		return s.nearPairs(), len(s.pairs), s.limit
	}
	pairs, n, limit := find()
	if len(pairs) != 1 || !pairs[0].inverse || n > maxSample || n < maxSample/4 || limit == ^uint64(0) {
		t.Fatalf("%v, %d pairs", pairs, n)
	}
	slices.Reverse(facts)
	if _, m, again := find(); m != n || again != limit {
		t.Errorf("in another order %d pairs, want %d", m, n)
	}
}

// TestNearPairsHaveAnOrder has two symmetric relations, of which one is near the other and near its inverse.
func TestNearPairsHaveAnOrder(t *testing.T) {
	for range 30 {
		s := newSample()
		for i := range uint64(40) {
			for _, relation := range []int32{0, 1} {
				s.add(fact{relation: relation, head: 2 * i, tail: 2*i + 1, pair: i})
				s.add(fact{relation: relation, head: 2*i + 1, tail: 2 * i, pair: i, backwards: true})
			}
		}
		var got []string
		for _, p := range s.nearPairs() {
			got = append(got, fmt.Sprint(p.a, p.b, p.inverse))
		}
		if want := []string{"0 0 true", "0 1 false", "0 1 true", "1 1 true"}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// TestImpliedRelations has relations that imply another one, in its direction or the other, and few
// that do so by chance.
func TestImpliedRelations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		implied func(a, b string) string
		n, of   int // every of-th of n facts has it
		want    []counts.Pair
	}{
		"half of the inverses": {func(a, b string) string { return b + "\tcited_by\t" + a }, 100, 2,
			[]counts.Pair{{Relation: "cited_by", Other: "cites", Inverse: true, Share: 1}}},
		"a tenth of the same": {func(a, b string) string { return a + "\tquotes\t" + b }, 100, 10,
			[]counts.Pair{{Relation: "cites", Other: "quotes", Share: 1}}},
		"one way, two ways": {func(a, b string) string { return b + "\tcites\t" + a }, 100, 2, nil},
		"few":               {func(a, b string) string { return a + "\tquotes\t" + b }, 90, 10, nil},
	} {
		var lines []string
		for i := range c.n {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			if lines = append(lines, a+"\tcites\t"+b); i%c.of == 0 {
				lines = append(lines, c.implied(a, b))
			}
		}
		_, division, err := divide(t, lines, [3]float64{60, 20, 20}, 1)
		if diff := cmp.Diff(c.want, division.Pairs); diff != "" {
			t.Errorf("%s, %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestKeptRelation holds out no fact of a relation, however many there are, nor one that gives it away.
func TestKeptRelation(t *testing.T) {
	lines := people(100)
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("p%d\tis_a\tt%d", i, i%3), fmt.Sprintf("t%d\thas_instance\tp%d", i%3, i))
	}
	for i := range 10 { // not also of the other relation
		lines = append(lines, fmt.Sprintf("t%d\thas_instance\tp%d", (i+1)%3, i), fmt.Sprintf("t%d\thas_instance\tp%d", (i+2)%3, i))
	}
	sides, s, err := divideBut(t, lines, [3]float64{60, 20, 20}, 3, "is_a")
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i, side := range sides {
		for _, line := range side {
			names := strings.Split(line, "\t")
			if names[1] == "is_a" {
				kept++
			}
			typed := names[1] == "is_a" || names[1] == "has_instance" && slices.Contains(lines, names[2]+"\tis_a\t"+names[0])
			if typed && i != train {
				t.Errorf("%q is held out", line)
			}
		}
	}
	if kept != 100 || len(sides[valid]) < 50 || slices.Contains(s.UntestedNames, "is_a") {
		t.Errorf("%d facts of types, %d for validation, without a test fact %q", kept, len(sides[valid]), s.UntestedNames)
	}
}
