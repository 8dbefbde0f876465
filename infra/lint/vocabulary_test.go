package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// vocabulary lists expressions that the repository does not use, with the standard term instead.
// They are matched as whole words in identifiers, comments, messages and documents.
var vocabulary = []struct{ word, instead string }{
	{"deck", "training set, batch"},
	{"seats?", "worker, slot of a semaphore"},
	{"twins?", "equivalent entity, representative"},
	{"lessons?", "example, step"},
	{"anew", "again, overwrite"},
	{"way back", "backward pass"},
	{"asked again", "duplicate, resume"},
	{"is asked|are asked", "queries, is queried"},
	{"cannot be told", "is not known"},
	{"is not there", "not found, not complete"},
	{"corrupted answers?", "negative"},
	{"displaced", "lost the lock"},
	{"tells whether", "reports whether"},
	{"portions?", "chunk, shard"},
	{"goes on|go on|going on", "continues, resumes"},
	{"other way round", "inverse"},
	{"nobody listens|serves? nobody|nobody (notices|serves)", "no server listens, unused"},
	{"remark", "warning, note"},
	{"seals?|sealed|reseal", "checksum"},
	{"questions?", "query"},
	{"reciprocals?", "inverse"},
	{"are there already|is there already", "already exists"},
	{"stands? between", "what the package reads and who reads it"},
}

// exceptions lists phrases in which an expression is right, by file; "" stands for the whole file.
var exceptions = map[string]string{
	"infra/lint/vocabulary_test.go":         "",                     // the list itself
	"formats/workspace/metrics/metrics.go":  "mean reciprocal rank", // the metric's name
	"model/engine/kernel/generate/count.go": "Harley and Seal",      // authors
}

// camel matches the boundaries of the words of an identifier.
var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// anyOf matches what one of the expressions does, which few lines have.
var anyOf = func() *regexp.Regexp {
	var all []string
	for _, v := range vocabulary {
		all = append(all, v.word)
	}
	return regexp.MustCompile(`\b(` + strings.Join(all, "|") + `)\b`)
}()

// vocabularyFindings returns the lines in a text that use an expression of the vocabulary.
func vocabularyFindings(name, text string) []string {
	var found []string
	for i, line := range strings.Split(text, "\n") {
		words := strings.ToLower(camel.ReplaceAllString(line, "$1 $2"))
		if !anyOf.MatchString(words) {
			continue
		}
		for _, v := range vocabulary {
			if word := regexp.MustCompile(`\b(` + v.word + `)\b`).FindString(words); word != "" {
				found = append(found, fmt.Sprintf("%s:%d: %q: use %s", name, i+1, word, v.instead))
			}
		}
	}
	return found
}

// TestVocabulary checks that the repository uses the terms of the field.
func TestVocabulary(t *testing.T) {
	top, files := tracked(t)
	for _, file := range files {
		allowed, excepted := exceptions[file]
		if excepted && allowed == "" {
			continue
		}
		switch filepath.Ext(file) {
		case ".go", ".md", ".py", ".html", ".s", ".cu", ".cuh", ".h":
		default:
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			continue // removed, but not yet committed
		}
		if excepted {
			if !strings.Contains(string(text), allowed) {
				t.Errorf("%s does not have %q: remove the exception", file, allowed)
			}
			text = []byte(strings.ReplaceAll(string(text), allowed, ""))
		}
		for _, finding := range vocabularyFindings(file, string(text)) {
			t.Error(finding)
		}
	}
}

func TestVocabularyFindings(t *testing.T) {
	for text, want := range map[string]int{
		"func (d *deck) Shuffle()": 1, "var trainDeck int": 1, "decked": 0, "the Way Back": 1, "an anew\nsecond Twin": 2, "renewed": 0,
	} {
		if got := vocabularyFindings("x", text); len(got) != want {
			t.Errorf("%q: %d findings, want %d: %v", text, len(got), want, got)
		}
	}
}
