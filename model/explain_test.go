package model_test

import (
	"testing"

	"tagnet/model"
)

func TestPathOnOneLine(t *testing.T) {
	t.Parallel()
	path := model.Path{Weight: 0.2749, Steps: []model.Step{
		{From: "Joan Eibe", Relation: "parent_of", To: "Lina"},
		{From: "Lina", Relation: "parent_of", Inverse: true, To: "Per"},
	}}
	const want = "0.27  Joan Eibe -parent_of-> Lina -~parent_of-> Per"
	if got := path.String(); got != want {
		t.Errorf("path is %q, want %q", got, want)
	}
}
