package device

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Choice{
		"auto": {Mode: Auto}, "cpu": {}, "cuda": {Mode: CUDA}, "cuda:0": {Mode: CUDA}, "cuda:12": {Mode: CUDA, Ordinal: 12},
		"cuda:all": {Mode: CUDA, All: true},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again != want {
			t.Errorf("%s: printed as %s, which is %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "gpu", "CUDA", "cpu:0", "auto:1", "cuda:", "cuda:-1", "cuda:+1", "cuda:one", "cuda:ALL", "cpu:all", "cuda:1:2",
		"cuda:99999999999"} {
		c := Choice{Mode: Auto}
		if err := c.Set(text); err == nil || c != (Choice{Mode: Auto}) {
			t.Errorf("%q: %+v, %v, want an error and no change", text, c, err)
		}
	}
}
