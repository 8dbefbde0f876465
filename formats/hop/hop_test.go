package hop

import (
	"fmt"
	"testing"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	keys := map[string]int{KeyOf(Column): 0}
	for _, hops := range []int32{10, 2, 0, 1, Most} {
		keys[KeyOf(hops)] = 0
	}
	if got := fmt.Sprint(Keys(keys)); got != "[0 1 2 10 14 unreached]" {
		t.Errorf("keys %s", got)
	}
}
