package nbfnet

import (
	"maps"
	"strings"
	"testing"

	"tagnet/formats/pytorch"
	"tagnet/model/configuration"
	"tagnet/model/parameters"
)

// shapes returns the tensors, without numbers, of two layers of four dimensions and three relations.
func shapes(change func(*configuration.Configuration)) map[string]pytorch.Tensor {
	c := configuration.Default()
	c.Layers, c.Dim = 2, 4
	if change != nil {
		change(&c)
	}
	tensors := map[string]pytorch.Tensor{}
	for _, s := range parameters.Layout(c, 6) {
		tensors[s.Name] = pytorch.Tensor{Name: s.Name, Shape: s.Shape}
	}
	return tensors
}

// TestRefusesOptionsThatTheModelLacks changes a state_dict as options of NBFNet-PyG do.
func TestRefusesOptionsThatTheModelLacks(t *testing.T) {
	t.Parallel()
	set := func(name string, shape ...int) func(map[string]pytorch.Tensor) {
		return func(tensors map[string]pytorch.Tensor) { tensors[name] = pytorch.Tensor{Name: name, Shape: shape} }
	}
	for name, c := range map[string]struct {
		change func(map[string]pytorch.Tensor)
		want   string
	}{
		"none":           {func(map[string]pytorch.Tensor) {}, ""},
		"empty":          {func(w map[string]pytorch.Tensor) { clear(w) }, "(it has no tensors)"},
		"no query":       {func(w map[string]pytorch.Tensor) { delete(w, "query.weight") }, "it has no tensor query.weight"},
		"odd relations":  {set("query.weight", 5, 4), "it has no tensor query.weight of shape"},
		"no layers":      {func(w map[string]pytorch.Tensor) { delete(w, "layers.0.linear.weight") }, "it has no tensor layers.0.linear.weight"},
		"first width":    {set("layers.0.linear.weight", 8, 52), "tensor layers.0.linear.weight has shape [8 52], want [4 52] (PNA) or [4 8]"},
		"second width":   {set("layers.1.linear.weight", 8, 52), "tensor layers.1.linear.weight has shape [8 52], want [4 52]"},
		"no layer norm":  {without("layer_norm"), "trained with layer_norm: no"},
		"one layer norm": {func(w map[string]pytorch.Tensor) { delete(w, "layers.1.layer_norm.bias") }, "it has no tensor layers.1.layer_norm.bias of shape [4]"},
		"both relations": {set("layers.0.relation.weight", 6, 4), "it has both"},
		"concat_hidden":  {set("mlp.0.weight", 12, 12), "concat_hidden: yes"},
		"mlp of one": {func(w map[string]pytorch.Tensor) {
			delete(w, "mlp.2.weight")
			set("mlp.0.weight", 1, 8)(w)
		}, "num_mlp_layer: 1"},
		"mlp of three":  {set("mlp.4.weight", 1, 8), "num_mlp_layer: 3"},
		"a tensor more": {set("layers.0.degree", 4), `it has a tensor "layers.0.degree", which NBFNet-PyG's model of 2 layers lacks`},
		"gap of layers": {set("layers.3.linear.weight", 4, 52), `it has a tensor "layers.3.linear.weight"`},
		"mlp":           {set("mlp.2.bias", 2), "tensor mlp.2.bias has shape [2], want [1]"},
	} {
		w := &Weights{tensors: maps.Clone(shapes(nil))}
		c.change(w.tensors)
		err := w.inspect()
		if err == nil {
			err = w.checkLayout()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func without(part string) func(map[string]pytorch.Tensor) {
	return func(tensors map[string]pytorch.Tensor) {
		maps.DeleteFunc(tensors, func(name string, _ pytorch.Tensor) bool { return strings.Contains(name, part) })
	}
}
