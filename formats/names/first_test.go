package names

import "testing"

func TestFirstNamesAFewOfMany(t *testing.T) {
	t.Parallel()
	list := []string{"a", "b c", "d"}
	for most, want := range map[int]string{1: `"a" and 2 more`, 2: `"a", "b c" and 1 more`, 3: `"a", "b c", "d"`, 4: `"a", "b c", "d"`} {
		if got := First(list, most); got != want {
			t.Errorf("at most %d: %s, want %s", most, got, want)
		}
	}
}
