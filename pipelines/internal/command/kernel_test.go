package command

import (
	"strings"
	"testing"
)

func TestCheckKernel(t *testing.T) {
	for _, test := range []struct{ flag, environment, want string }{
		{"", "", ""},
		{"", "portable", ""},
		{"auto", "sse9", ""}, // the flag decides
		{"", "sse9", "TAGNET_KERNEL: unknown kernel \"sse9\""},
		{"sse9", "portable", "--kernel: unknown kernel \"sse9\""},
	} {
		t.Setenv("TAGNET_KERNEL", test.environment)
		err := CheckKernel(test.flag)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("--kernel %q, TAGNET_KERNEL %q: %v, want %q", test.flag, test.environment, err, test.want)
		}
	}
}
