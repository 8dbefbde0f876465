package pipelinetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "page.html")
	const text = `<!doctype html><meta name="viewport" content="width=device-width"><input autofocus><div style="width:500px">wide</div>
<script>addEventListener("keydown", e => { if (e.key == "Enter") document.title = document.querySelector("input").value })</script>`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := OpenPage(t, "file://"+file, 1280, 800)
	if n := p.Overflow(); n != 0 {
		t.Errorf("at 1280 the page is %d pixels too wide", n)
	}
	if p.Resize(420, 800); p.Overflow() < 80 {
		t.Errorf("at 420 the page is %d pixels too wide, want at least 80", p.Overflow())
	}
	p.Dark(true)
	if !EvaluateOnPage[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches`) {
		t.Error("the page is not dark")
	}
	EvaluateOnPage[bool](p, `(document.querySelector("input").focus(), true)`)
	p.Type("Ünal")
	p.Press("Enter")
	p.Wait(`document.title == "Ünal"`)
	if said := p.Said(); len(said) != 0 {
		t.Errorf("the console says %q", said)
	}
	EvaluateOnPage[bool](p, `(console.warn("some trouble"), true)`)
	if said := p.Said(); len(said) != 1 || !strings.Contains(said[0], "some trouble") {
		t.Errorf("the console says %q", said)
	}
}
