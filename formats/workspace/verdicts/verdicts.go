package verdicts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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

// Judged are the facts of a file on which a verdict counts.
type Judged struct {
	// Of has the verdict that counts on each, which is true or false.
	Of map[Fact]Verdict
	// Text is what the file holds and SHA256 its hash; zero if there is no file.
	Text   []byte
	SHA256 string
}

// Read returns the facts of a file that are judged; none if the file does not exist. The error of a line
// that is no verdict is a triples.BadLine.
func Read(ctx context.Context, url string) (Judged, error) {
	j := Judged{Of: map[Fact]Verdict{}}
	text, err := existing(ctx, url)
	if err != nil || len(text) == 0 {
		return j, err
	}
	sum := sha256.Sum256(text)
	j.Text, j.SHA256 = text, hex.EncodeToString(sum[:])
	return j, parse(url, j.Text, func(v Verdict) {
		if j.Of[v.Fact] = v; v.Judgment == Undo {
			delete(j.Of, v.Fact)
		}
	})
}

// parse calls each for every verdict of tab-separated text.
func parse(url string, text []byte, each func(v Verdict)) error {
	columns, named := Usual, false
	strict := func(b triples.BadLine) error { return b }
	return triples.ReadLines(url, "head, relation, tail and true or false, separated by tabs", bytes.NewReader(text), func(line int, row []byte) (err error) {
		fields := strings.Split(string(row), "\t")
		if line == 1 {
			at := [3]int{position(fields, "head"), position(fields, "relation"), position(fields, "tail")}
			if named = slices.Min(at[:]) >= 0; named {
				if columns, err = ColumnsOf(fields, at); err != nil {
					err = fmt.Errorf("%s:%d: %w", url, line, err)
				}
				return err
			}
		}
		v, reason, help := columns.Verdict(fields, named)
		switch {
		case reason != "":
			return triples.BadLine{File: url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown(row)}
		case v.Judgment != "":
			v.Line = line
			each(v)
		}
		return nil
	}, strict)
}

// Append adds verdicts to the file of a workspace, which it makes if it does not exist, and does not return before they
// are there whole. One without a time is given now. Of several processes that append at once, each adds all of its
// verdicts. command says in the error of another one what holds the lock.
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
	if len(text) == 0 {
		text = []byte(heading)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	if strings.TrimRight(first, "\r")+"\n" != heading {
		return remedy.Errorf(remedy.Do("move it away and give it to %v %v", remedy.Command("review"), remedy.Flag("file")),
			"%s: verdicts are added to a file with the columns %s, in this order, and its first line is %q", url,
			strings.Join(strings.Split(strings.TrimSuffix(heading, "\n"), "\t"), ", "), first)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	for _, v := range list {
		weight := ""
		if v.Weight > 0 {
			weight = strconv.FormatFloat(v.Weight, 'g', 6, 64)
		}
		fields := []string{v.Head, v.Relation, v.Tail, string(v.Judgment), cmp.Or(v.Time, now), v.Who, weight}
		for i, field := range fields {
			fields[i] = names.Field(field)
		}
		text = append(text, strings.Join(fields, "\t")+"\n"...)
	}
	return storage.WriteFile(ctx, url, text)
}

// existing returns the text of a file, nothing if it does not exist.
func existing(ctx context.Context, url string) ([]byte, error) {
	text, err := storage.ReadFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return text, err
}
