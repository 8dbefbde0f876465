package verdicts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/input/triples"
	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
)

// File is the name of the file of verdicts in a workspace: tab-separated text with a first line of names. Each line is
// a verdict, the last one on a fact counts.
const File = "verdicts.tsv"

// heading is the first line of a file that this package makes.
const heading = "head\trelation\ttail\tverdict\ttime\twho\tweight\n"

// lockFolder is the folder beside the file that holds the lock of its writers.
const lockFolder = ".verdicts"

// Judged are the facts of a file on which a verdict counts, and what it says.
type Judged struct {
	// True has whether a fact is true.
	True map[Fact]bool
	// Lines has the line of the verdict that counts, Weights that of a fact that was drawn to be judged: one over its
	// chance, up to a common factor.
	Lines   map[Fact]int
	Weights map[Fact]float64
	// Who has by whom it is, "" where nobody said.
	Who map[Fact]string
	// Given is the number of verdicts in the file, Text what it holds and SHA256 its hash; zero if there is no file.
	Given  int
	Text   []byte
	SHA256 string
}

// Read returns the facts of a file that are judged; none if the file does not exist. The error of a line
// that is no verdict is a triples.BadLine.
func Read(ctx context.Context, url string) (Judged, error) {
	j := Judged{True: map[Fact]bool{}, Lines: map[Fact]int{}, Weights: map[Fact]float64{}, Who: map[Fact]string{}}
	text, err := existing(ctx, url)
	if err != nil || text == "" {
		return j, err
	}
	sum := sha256.Sum256([]byte(text))
	j.Text, j.SHA256 = []byte(text), hex.EncodeToString(sum[:])
	err = parse(url, j.Text, func(line int, v Verdict) {
		j.Given++
		delete(j.True, v.Fact)
		delete(j.Lines, v.Fact)
		delete(j.Weights, v.Fact)
		delete(j.Who, v.Fact)
		if v.Judgment == Undo {
			return
		}
		j.True[v.Fact], j.Lines[v.Fact], j.Who[v.Fact] = v.Judgment == True, line, v.Who
		if v.Weight > 0 {
			j.Weights[v.Fact] = v.Weight
		}
	})
	return j, err
}

// parse calls each for every verdict of tab-separated text.
func parse(url string, text []byte, each func(line int, v Verdict)) error {
	columns, named := Usual, false
	strict := func(b triples.BadLine) error { return b }
	return triples.ReadLines(url, "head, relation, tail and true or false, separated by tabs", bytes.NewReader(text), func(line int, row []byte) (err error) {
		fields := strings.Split(string(row), "\t")
		if line == 1 {
			if columns, named, err = ColumnsOf(fields, nil); err != nil {
				return fmt.Errorf("%s:%d: %w", url, line, err)
			}
			if named {
				return nil
			}
		}
		v, reason, help := columns.Verdict(fields, named)
		switch {
		case reason != "":
			return triples.BadLine{File: url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown(row)}
		case v.Judgment != "":
			each(line, v)
		}
		return nil
	}, strict)
}

// Append adds verdicts to the file of a workspace, which it makes if it does not exist, and does not return before they
// are there whole. Of several processes that append at once, each adds all of its verdicts. command says in the error
// of another one what holds the lock.
func Append(ctx context.Context, root, command string, list ...Verdict) error {
	held, err := lock.Await(ctx, storage.Join(root, lockFolder), command, func(*lock.Held) {})
	if err != nil {
		return err
	}
	err = write(held.Guard(ctx), storage.Join(root, File), list)
	return errors.Join(err, held.Release(context.WithoutCancel(ctx)))
}

func write(ctx context.Context, url string, list []Verdict) error {
	text, err := existing(ctx, url)
	if err != nil {
		return err
	}
	if text == "" {
		text = heading
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	if strings.TrimRight(first, "\r")+"\n" != heading {
		return remedy.Errorf(remedy.Do("move it away and give it to %v %v", remedy.Command("review"), remedy.Flag("file")),
			"%s: verdicts are added to a file with the columns %s, in this order, and its first line is %q", url,
			strings.Join(strings.Split(strings.TrimSuffix(heading, "\n"), "\t"), ", "), first)
	}
	for _, v := range list {
		weight := ""
		if v.Weight > 0 {
			weight = strconv.FormatFloat(v.Weight, 'g', 6, 64)
		}
		fields := []string{v.Head, v.Relation, v.Tail, string(v.Judgment), v.Time, v.Who, weight}
		for i, field := range fields {
			fields[i] = names.Field(field)
		}
		text += strings.Join(fields, "\t") + "\n"
	}
	return storage.WriteFile(ctx, url, []byte(text))
}

// existing returns the text of a file, nothing if it does not exist.
func existing(ctx context.Context, url string) (string, error) {
	file, err := storage.Open(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	return string(text), err
}

// Now returns the time of a verdict that is given now.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }
