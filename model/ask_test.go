package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestAnswerInJSON holds the names and the order of what serve answers, and reads it again.
func TestAnswerInJSON(t *testing.T) {
	likely := .5
	for want, a := range map[string]model.Answer{
		`{"entity":"Ann","score":1.5,"rank":2,"other_score":0,"other_rank":0,"hops":null,"known":false}`: {
			Entity: "Ann", Score: 1.5, Rank: 2, Hops: model.Unreached,
		},
		`{"entity":"Ben","probability":0.5,"odds":"about 5 in 10","score":1,"rank":2,"other_score":3,"other_rank":4,"hops":0,"known":true}`: {
			Entity: "Ben", Probability: &likely, Odds: "about 5 in 10", Score: 1, Rank: 2, OtherScore: 3, OtherRank: 4, Known: true,
		},
	} {
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var again model.Answer
		if err := json.Unmarshal(got, &again); err != nil || cmp.Diff(a, again) != "" {
			t.Errorf("%s is read as %+v, %v", got, again, err)
		}
	}
}
