package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// clock is a time that only the test advances.
type clock struct{ now time.Time }

func display(terminal bool) (*Display, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := &clock{time.Unix(1000, 0)}
	d := New(&out, terminal)
	d.now = func() time.Time { return c.now }
	return d, &out, c
}

func TestPlainLines(t *testing.T) {
	d, out, c := display(false)
	b := d.Begin("scoring", 2000, "queries")
	for done := int64(100); done <= 1200; done += 100 {
		c.now = c.now.Add(time.Second)
		b.Set(done)
	}
	c.now = c.now.Add(5 * time.Second)
	b.Update(1700, "MRR %.1f", 0.5)
	b.End()
	b.End()
	want := []string{
		"scoring  25%  500 of 2,000 queries  100/s  15s left",
		"scoring  50%  1,000 of 2,000 queries  100/s  10s left",
		"scoring  85%  1,700 of 2,000 queries  100/s  3.0s left  MRR 0.5",
		"scoring: 1,700 of 2,000 queries in 17s, MRR 0.5",
	}
	if got := strings.Split(strings.TrimSpace(out.String()), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShortStepsAreSilent(t *testing.T) {
	d, out, c := display(false)
	b := d.Begin("scoring", 10, "queries")
	c.now = c.now.Add(time.Second)
	b.Set(10)
	b.End()
	if out.Len() != 0 {
		t.Errorf("%q", out.String())
	}
}

// TestTimeAlone shows a step that counts nothing.
func TestTimeAlone(t *testing.T) {
	d, out, c := display(false)
	b := d.Begin("waiting for process 7", 0, "")
	for range 7 {
		c.now = c.now.Add(time.Second)
		b.Set(0)
	}
	b.End()
	if got, want := out.String(), "waiting for process 7 5.0s\nwaiting for process 7: 7.0s\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAlso shows two counts of a step: both while both grow, the second alone when the first is full.
func TestAlso(t *testing.T) {
	d, out, c := display(false)
	b := d.Begin("scoring", 10, "queries")
	also := b.Also("explaining", 100, "answers")
	c.now = c.now.Add(5 * time.Second)
	b.Set(5)
	b.Note("2 workers")
	c.now = c.now.Add(5 * time.Second)
	also.Set(20)
	b.Set(10)
	c.now = c.now.Add(10 * time.Second)
	also.Set(50)
	b.Complete() // 50 was all that there was to explain
	b.End()
	also.End()
	want := []string{
		"scoring  50%  5 of 10 queries  1/s  5.0s left",
		"scoring  50%  5 of 10 queries  0.5/s  10s left  explaining  20%  20 of 100 answers  2/s  40s left  2 workers",
		"explaining  50%  50 of 100 answers  2.5/s  20s left  2 workers",
		"scoring: 10 of 10 queries in 20s, 2 workers",
		"explaining: 50 of 50 answers in 20s",
	}
	if got := strings.TrimSpace(out.String()); got != strings.Join(want, "\n") {
		t.Errorf("it shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestTerminal(t *testing.T) {
	d, out, c := display(true)
	b := d.Begin("training", 4, "steps")
	c.now = c.now.Add(20 * time.Second) // reading the checkpoint
	b.Resume(1)
	c.now = c.now.Add(3 * time.Second)
	b.Set(3)
	if text := out.String(); !strings.HasPrefix(text, "\r\x1b[Ktraining [==================      ]") || !strings.Contains(text, "0.667/s  1.5s left") {
		t.Errorf("%q", text)
	}
	d.Print("a checkpoint")
	b.Set(2) // a smaller count is ignored
	b.End()
	if text := out.String(); !strings.HasSuffix(text, "\r\x1b[Ka checkpoint\n\r\x1b[Ktraining: 2 of 3 steps in 3.0s\n") {
		t.Errorf("%q", text)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 6531381360: "6,531,381,360"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0.4s", 12 * time.Second: "12s", 185 * time.Second: "3m05s", 130 * time.Minute: "2h10m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
