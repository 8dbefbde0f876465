//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/safetensors"
	"tagnet/formats/workspace/tables"
	"tagnet/model"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
)

// The files of a workspace that the forgeries change.
const (
	graphManifest = "graph/manifest.json"
	graphSummary  = "graph/summary.json"
	checkpoints   = "runs/main/checkpoints/"
	record        = checkpoints + "epoch-002.json"
	weights       = checkpoints + "epoch-002.safetensors"
	fitted        = "probabilities/*.json" // the only file
	evaluation    = "runs/main/evaluation/test/"
)

// The commands that read them. Each writes into a folder that the workspace does not have, or overwrites one.
var (
	scores    = []string{"score", "--split", "valid"}
	asks      = []string{"ask", "--relation", "cousin_of", "--top_k", "3", "--explain"}
	serves    = []string{"serve", "--listen", "127.0.0.1:0"}
	trains    = []string{"train", "--run", "other", "--dim", "4", "--layers", "2", "--epochs", "1"}
	continues = []string{"train", "--resume", "--dim", "4", "--layers", "3", "--negatives", "4", "--batch_size", "256", "--epochs", "3"}
	counts    = []string{"messages", "--split", "valid", "--force"}
	searches  = []string{"distances", "--split", "valid", "--force"}
	finds     = []string{"bundle", "--split", "valid", "--force", "--reach", "20"}
	reports   = []string{"report"}
	library   = []string{"library"}
)

// forgeries are files whose checksums are right and whose content no command writes. Each of the commands has to end
// with an error that has the text; report may say instead what it does not show. Commands that open the same file in
// the same way share its forgeries.
var forgeries = []struct {
	file     string
	forge    func(t testing.TB, path string)
	want     string
	commands [][]string
}{
	{graphManifest, number("edges", -1), "edges", [][]string{scores, serves, library}},
	{graphManifest, number("edges", 1<<62), "edges", [][]string{trains, finds}},
	{graphManifest, number("edges", 2e9), "edges", [][]string{counts, asks, library}},
	{graphManifest, number("edges", 2e11), "edges", [][]string{scores}},
	{graphManifest, number("edges", 7346), "edges", [][]string{scores}},
	{graphManifest, number("entities", 1<<62), "entities", [][]string{finds, counts}},
	{graphManifest, number("entities", 336), "rows.entities", [][]string{finds, searches}},
	{graphManifest, replace(`"name": "answers.arrow"`, `"name": "../answers.arrow"`), "files[", [][]string{scores, reports, library}},
	{graphSummary, number("entities", -5), "entities", [][]string{scores, reports}},
	{graphSummary, number("relations", 1<<40), "relations", [][]string{trains, reports}},
	{"graph/edges-00000-of-00001.arrow", edges(), "edges", [][]string{counts}},
	{"graph/edges-00000-of-00001.arrow", edges(), "edges", [][]string{scores, searches, library}},
	{"graph/edges-00000-of-00001.arrow", edges([3]int32{1, 0, 500}, [3]int32{500, 12, 1}), "out of range", [][]string{scores, library}},
	{"graph/entities.arrow", entities("a", "b"), "entities", [][]string{scores, trains, library}},
	{"graph/answers.arrow", answers(3, 0, 70_000), "an id that is not in the graph", [][]string{scores, asks}},
	{"graph/queries-train.arrow", queries(graph.Query{Source: 1, Relation: 12, Answer: 2}), "an id that is not in the graph", [][]string{trains}},
	{"graph/queries-train.arrow", queries(graph.Query{Source: 1, Relation: 2, Answer: graph.None}), "has no answer", [][]string{trains}},
	{"graph/queries-valid.arrow", queries(graph.Query{Source: 1, Relation: 2, Answer: graph.None}), "has no answer", [][]string{scores, trains}},
	{"graph/queries-valid.arrow", queries(graph.Query{Source: 1, Relation: 24, Answer: 2}), "an id that is not in the graph", [][]string{counts, searches}},
	{record, number("epoch", -2), "epoch", [][]string{scores, reports}},
	{record, number("step", -7), "step is -7", [][]string{scores}},
	{record, replace(`"name": "epoch-002.safetensors"`, `"name": "../../x"`), "../../x", [][]string{serves, library}},
	{record, replace(`"borders",`, `"aunt_or_uncle_of",`), "twice", [][]string{asks, library}},
	{record, number("layers", 1<<40), "layers", [][]string{scores, library}},
	{record, replace(`"valid": {`, `"partial": {"step": -1}, "valid": {`), "epoch-002.json", [][]string{scores, library}},
	{fitted, replace(`"rate": [0-9.]+`, `"rate": 2`), "rate is 2", [][]string{asks, library}},
	{fitted, number("labeled", -1), "].labeled is -1", [][]string{asks, library}},
	{fitted, replace(`"weights": \[\s+[-0-9.e]+`, `"weights": [-1`), "folds[0]", [][]string{asks, library}},
	{fitted, number("drawn", 1<<62), "facts is", [][]string{asks, library}},
	{weights, notFinite(math.NaN()), "want a finite number", [][]string{scores, serves}},
	{weights, notFinite(math.Inf(1)), "want a finite number", [][]string{asks, library}},
	{evaluation + "metrics.json", number("queries", -1), "queries is -1", [][]string{reports}},
	{evaluation + "metrics.json", replace(`"mrr": [0-9.]+`, `"mrr": 7`), "mrr is 7", [][]string{reports}},
	{evaluation + "rankings/part-00000-of-00001.parquet", rows(parquet.Ranking{Direction: "tail", RankMean: 1, RankOptimistic: 1, Candidates: 9}),
		"rank_pessimistic", [][]string{reports}},
	{evaluation + "rankings/part-00000-of-00001.parquet",
		rows(parquet.Ranking{Direction: "tail", Score: float32(math.NaN()), RankPessimistic: 1, RankMean: 1, RankOptimistic: 1, Candidates: 9}), "score",
		[][]string{reports}},
	{"runs/main/training.jsonl", replace(`"epoch":2`, `"epoch":-2`), "epoch is -2", [][]string{reports}},
	{"runs/main/messages/valid/summary.json", number("kept", -1), "kept is -1", [][]string{reports}},
	{"distances/valid/distribution.json", number("1", -1), "by_distance.1", [][]string{reports}},
}

// mostMemory bounds what a command that reads a forged file takes; on the workspace as it was made it is less.
const mostMemory = 600 << 20

func TestForgedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred commands")
	}
	made := filepath.Join(t.TempDir(), "made")
	for _, command := range [][]string{
		{"preprocess"}, {"train", "--dim", "4", "--layers", "3", "--negatives", "4", "--batch_size", "256", "--epochs", "2"}, {"score", "--split", "test"},
		{"distances", "--split", "valid"}, {"messages", "--split", "valid"},
	} {
		if text, err := tagnetOn(t, made, command).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, text)
		}
	}
	setChecksums(t, made)
	unchanged := workspaceOf(t, made)
	for _, command := range [][]string{reports, library, scores, asks, continues, counts, searches, finds} {
		if text, _ := read(t, unchanged, command); text != "" {
			t.Errorf("%q on files that are not forged: %s", command, text)
		}
	}
	free := make(chan bool, runtime.GOMAXPROCS(0))
	var cases sync.WaitGroup
	for _, f := range forgeries {
		free <- true
		cases.Go(func() {
			defer func() { <-free }()
			w := workspaceOf(t, made)
			f.forge(t, found(t, w, f.file))
			setChecksums(t, w)
			for _, command := range f.commands {
				text, memory := read(t, w, command)
				if !strings.Contains(text, f.want) || strings.Contains(text, "goroutine") || strings.Contains(text, "panic") {
					t.Errorf("%s: %q: no %q in the error: %.2000s", f.file, command[0], f.want, text)
				}
				if memory > mostMemory {
					t.Errorf("%s: %q took %d MB", f.file, command[0], memory>>20)
				}
			}
		})
	}
	cases.Wait()
}

// found returns the path of the file of a workspace that matches a pattern.
func found(t testing.TB, w, pattern string) string {
	files, err := filepath.Glob(filepath.Join(w, pattern))
	if err != nil || len(files) != 1 {
		t.Errorf("%s: %q, %v, want one file", pattern, files, err)
		return filepath.Join(w, pattern)
	}
	return files[0]
}

// workspaceOf returns a copy of a workspace.
func workspaceOf(t testing.TB, made string) string {
	w := filepath.Join(t.TempDir(), "w")
	if err := os.CopyFS(w, os.DirFS(made)); err != nil {
		t.Error(err)
	}
	return w
}

func tagnetOn(t *testing.T, w string, command []string) *exec.Cmd {
	return start(t, slices.Concat(command, []string{"--workspace", w})...)
}

// read runs a command, or opens the library, on a workspace and returns what it says is wrong, and its memory in bytes.
func read(t *testing.T, w string, command []string) (text string, memory int64) {
	if command[0] == "library" {
		m, err := model.Open(t.Context(), w)
		if err == nil {
			err = m.Fit(t.Context(), nil) // which says what is wrong with probabilities, that a model opens without
		}
		if err != nil {
			text = err.Error()
		}
		return text, 0
	}
	c := tagnetOn(t, w, command)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Start(); err != nil {
		t.Error(err)
		return "", 0
	}
	late := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() }) // serve has found nothing wrong and listens
	err := c.Wait()
	if !late.Stop() {
		return "no error", 0
	}
	if err != nil || command[0] == "report" {
		text = strings.TrimSpace(stderr.String())
	}
	if at := strings.Index(out.String(), "not shown: "); at >= 0 {
		text += gaps(t, w) + out.String()[at:]
	}
	return text, peak(c.ProcessState)
}

// peak returns the largest resident memory of a process that has ended, in bytes.
func peak(of *os.ProcessState) int64 {
	most := of.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		return most
	}
	return most << 10
}

// gaps returns the page that report wrote: it says why something is not shown.
func gaps(t testing.TB, w string) string {
	page, err := os.ReadFile(filepath.Join(w, "report", "index.html"))
	if err != nil {
		t.Error(err)
	}
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(page), "")
}

// number sets the first whole number with a key of a JSON file.
func number(key string, n int64) func(testing.TB, string) {
	return replace(fmt.Sprintf(`"%s":( ?)-?[0-9]+`, key), fmt.Sprintf(`"%s":${1}%d`, key, n))
}

// replace changes the first match of a pattern in a text file.
func replace(pattern, with string) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		at := regexp.MustCompile(pattern).FindSubmatchIndex(text)
		if at == nil {
			t.Errorf("%s has no %s", path, pattern)
			return
		}
		forged := slices.Concat(text[:at[0]], regexp.MustCompile(pattern).Expand(nil, []byte(with), text, at), text[at[1]:])
		pipelinetest.Write(t, path, string(forged))
	}
}

// written returns a forgery that writes a file as this program does.
func written(write func(ctx context.Context, path string) error) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		if err := write(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
}

func edges(all ...[3]int32) func(testing.TB, string) {
	return written(func(ctx context.Context, path string) error {
		w, err := tables.CreateEdges(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range all {
			if err := w.Write(e[0], e[1], e[2]); err != nil {
				return err
			}
		}
		return w.Commit()
	})
}

func entities(names ...string) func(testing.TB, string) {
	return written(func(ctx context.Context, path string) error {
		w, err := tables.CreateNames(ctx, path, tables.Entities)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := w.Write([]byte(name)); err != nil {
				return err
			}
		}
		return w.Commit()
	})
}

func answers(source, relation, answer int32) func(testing.TB, string) {
	return written(func(ctx context.Context, path string) error {
		w, err := tables.CreateAnswers(ctx, path)
		if err != nil {
			return err
		}
		if err := w.Write(source, relation, []int32{answer}); err != nil {
			return err
		}
		return w.Commit()
	})
}

func queries(all ...graph.Query) func(testing.TB, string) {
	return written(func(ctx context.Context, path string) error { return kg.WriteQueries(ctx, path, all) })
}

func rows[R parquet.Row](all ...R) func(testing.TB, string) {
	return written(func(ctx context.Context, path string) error { return parquet.Write(ctx, path, all) })
}

// notFinite sets a number of every tensor.
func notFinite(x float64) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		tensors, err := safetensors.Decode(file)
		if err != nil {
			t.Error(err)
			return
		}
		for _, tensor := range tensors {
			tensor.Data[len(tensor.Data)-1] = float32(x)
		}
		forged, err := safetensors.Encode(tensors)
		if err != nil {
			t.Error(err)
		}
		pipelinetest.Write(t, path, string(forged))
	}
}

// setChecksums gives every file of a workspace that has a checksum, of itself or of other files, the right one: first
// the graph, then the records of checkpoints, which name it, then what was made with these.
func setChecksums(t testing.TB, w string) {
	setFolderChecksums(t, w, filepath.Join(w, graphManifest))
	records, _ := filepath.Glob(filepath.Join(w, checkpoints, "epoch-???.json"))
	for _, path := range records {
		setRecordChecksums(t, w, path)
	}
	setProbabilitiesChecksums(t, w)
	err := filepath.WalkDir(w, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == manifest.FileName {
			setFolderChecksums(t, w, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// setProbabilitiesChecksums sets the checksums of the probabilities, which are part of the name of their file: of
// weights, of the graph, and its own.
func setProbabilitiesChecksums(t testing.TB, w string) {
	path, of, over := found(t, w, fitted), digest(filepath.Join(w, weights)), readManifest(t, filepath.Join(w, graphManifest)).Checksum
	text := regexp.MustCompile(`"weights": "[0-9a-f]+"`).ReplaceAllString(pipelinetest.Read(t, path), `"weights": "`+of+`"`)
	text = regexp.MustCompile(`"graph": "[0-9a-f]+"`).ReplaceAllString(text, `"graph": "`+over+`"`)
	pipelinetest.Remove(t, path)
	pipelinetest.Write(t, filepath.Join(filepath.Dir(path), fmt.Sprintf("%.12s-%.12s-0.json", of, over)), string(storagetest.Repair([]byte(text), "checksum")))
}

// digest returns the SHA-256 of a file. A forged name may be that of none.
func digest(path string) string {
	content, _ := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// setRecordChecksums sets the checksums of a checkpoint's files, of its graph, and its own.
func setRecordChecksums(t testing.TB, w, path string) {
	of := regexp.MustCompile(`"name": "(epoch-[0-9a-z.]+)",\s+"size": [0-9]+,\s+"sha256": "[0-9a-f]+"`)
	text := of.ReplaceAllStringFunc(pipelinetest.Read(t, path), func(file string) string {
		tensors := filepath.Join(w, checkpoints, of.FindStringSubmatch(file)[1])
		size, err := os.Stat(tensors)
		if err != nil {
			t.Error(err)
			return file
		}
		return fmt.Sprintf(`"name": "%s", "size": %d, "sha256": "%s"`, filepath.Base(tensors), size.Size(), digest(tensors))
	})
	text = regexp.MustCompile(`"graph": "[0-9a-f]+"`).ReplaceAllString(text, `"graph": "`+readManifest(t, filepath.Join(w, graphManifest)).Checksum+`"`)
	pipelinetest.Write(t, path, string(storagetest.Repair([]byte(text), "checksum")))
}

// readManifest reads a manifest without the checks that package manifest makes.
func readManifest(t testing.TB, path string) (m manifest.Manifest) {
	if err := json.Unmarshal([]byte(pipelinetest.Read(t, path)), &m); err != nil {
		t.Error(err)
	}
	return m
}

// setFolderChecksums sets the checksums of a manifest: of the folder's files, of the folders that it was
// made from, and its own.
func setFolderChecksums(t testing.TB, w, path string) {
	m := readManifest(t, path)
	for i, f := range m.Files {
		file := filepath.Join(filepath.Dir(path), f.Name)
		if size, err := os.Stat(file); err == nil {
			m.Files[i].Size, m.Files[i].SHA256 = size.Size(), digest(file)
		}
	}
	for folder := range m.Inputs {
		m.Inputs[folder] = readManifest(t, filepath.Join(w, folder, manifest.FileName)).Checksum
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Error(err)
	}
	pipelinetest.Write(t, path, string(storagetest.Repair(text, "manifest_sha256")))
}
