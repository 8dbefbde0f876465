package serve

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestScoreTriples compares a triple, and the relations of a head and a tail, with the library, and has
// requests that are refused.
func TestScoreTriples(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	path := func(parameters ...string) string {
		v := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			v.Set(parameters[i], parameters[i+1])
		}
		return address + "/score?" + v.Encode()
	}
	compare := func(got reply, want []model.ScoredTriple, err error) {
		t.Helper()
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s, error %v", got.status, got.text, err)
		}
		for i, of := range read[scoreResponse](t, got).Triples {
			named := model.ScoredTriple{Triple: model.Triple{Head: of.Head, Relation: of.Relation, Tail: of.Tail}, Hops: of.Hops, Known: of.Known}
			named.AsTail = model.Side{Score: of.TailScore, Rank: of.TailRank}
			named.AsHead = model.Side{Score: of.HeadScore, Rank: of.HeadRank}
			if diff := cmp.Diff(want[i], named); diff != "" {
				t.Errorf("triple %d (-library +served):\n%s", i, diff)
			}
		}
		if n := len(read[scoreResponse](t, got).Triples); n != len(want) {
			t.Errorf("%d triples, want %d", n, len(want))
		}
	}
	for _, one := range []model.Triple{{Head: person(1), Relation: "knows", Tail: person(2)}, {Head: person(3), Relation: "<b>skips</b>", Tail: person(15)}} {
		want, err := s.model.Score(t.Context(), []model.Triple{one})
		compare(send(t, "GET", path("head", one.Head, "relation", one.Relation, "tail", one.Tail), ""), want, err)
	}
	want, err := s.model.Between(t.Context(), person(1), person(2), 10)
	compare(send(t, "GET", path("head", person(1), "tail", person(2)), ""), want, err)
	compare(send(t, "GET", path("head", person(1), "tail", person(2), "k", "1"), ""), want[:1], err)
	for want, parameters := range map[string][]string{
		"head is missing":         {"tail", person(1)},
		"tail is missing":         {"head", person(1)},
		`unknown entity "nobody"`: {"head", person(1), "tail", "nobody"},
		`unknown relation "kno"`:  {"head", person(1), "relation", "kno", "tail", person(2)},
		"k is 0":                  {"head", person(1), "tail", person(2), "k", "0"},
	} {
		if got := send(t, "GET", path(parameters...), ""); got.status < 400 || !strings.Contains(read[failure](t, got).Text, want) {
			t.Errorf("%v: %d %s, want %s", parameters, got.status, got.text, want)
		}
	}
}
