package mirror

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestConstants holds that the kernels define the mirror's constants.
func TestConstants(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../kernels/model.cuh")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"UNREACHED": unreached, "HEAVY": heavy} {
		if define := fmt.Sprintf("\n#define %s %d ", name, want); !strings.Contains(string(text), define) {
			t.Errorf("model.cuh lacks %q", define)
		}
	}
}
