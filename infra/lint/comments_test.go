package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packageNamed matches a package that a comment names, with the word before, or a list of them: "package kernel",
// "packages head, steps and gpu".
var packageNamed = regexp.MustCompile(`(?:([\w']+) )?\b[Pp]ackage ([a-z]\w*(?:/\w+)*)|\bpackages ((?:[a-z]\w*, )+[a-z]\w* and [a-z]\w*)`)

// articles are words before "package" that another word than its name follows: "a package that", "this package reads".
var articles = strings.Fields("a the this that these each every its whose which no one any other another main")

// absent returns the packages that a comment names and names lacks.
func absent(comment string, names map[string]bool) (list []string) {
	for _, match := range packageNamed.FindAllStringSubmatch(comment, -1) {
		if slices.Contains(articles, strings.ToLower(match[1])) || names[match[1]] { // "the net package writes"
			continue
		}
		for _, name := range strings.FieldsFunc(strings.ReplaceAll(match[2]+match[3], " and ", ","), func(r rune) bool { return r == ',' || r == ' ' }) {
			if !names[name] {
				list = append(list, name)
			}
		}
	}
	return list
}

// TestCommentsNamePackages holds that what a comment calls a package is one of this module, or one that it uses.
func TestCommentsNamePackages(t *testing.T) {
	names := map[string]bool{}
	for _, p := range packages(t) {
		for _, path := range slices.Concat([]string{p.ImportPath}, p.Deps, p.TestImports, p.XTestImports) {
			for below := true; below; _, path, below = strings.Cut(path, "/") {
				names[path] = true
			}
		}
	}
	top, files := tracked(t)
	for _, file := range files {
		if filepath.Ext(file) != ".go" || strings.HasPrefix(file, "infra/lint/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			continue // removed, but not yet committed
		}
		var comments []string
		for line := range strings.Lines(string(text)) {
			if _, comment, found := strings.Cut(line, "//"); found {
				comments = append(comments, strings.TrimSpace(comment))
			}
		}
		for _, name := range absent(strings.Join(comments, " "), names) {
			t.Errorf("%s: a comment names package %s: there is none", file, name)
		}
	}
}

func TestAbsent(t *testing.T) {
	names := map[string]bool{"head": true, "steps": true, "model/gpu": true, "net": true}
	for comment, want := range map[string]string{
		"Package head calls package stepping.":       "stepping",
		"a package that this package reads":          "",
		"see package model/gpu, package model/cuda":  "model/cuda",
		"the net package writes":                     "",
		"packages head, learner and steps call it":   "learner",
		"packages reach it, and both packages write": "",
	} {
		if got := strings.Join(absent(comment, names), " "); got != want {
			t.Errorf("%q: %q, want %q", comment, got, want)
		}
	}
}
