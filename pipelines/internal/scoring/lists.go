package scoring

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tagnet/formats/input/triples"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/evaluation"
)

// All is the value of --relation, --sources and --candidates that selects every relation or entity.
const All = "all"

// leave begins a word of --relation that leaves a relation out.
const leave = "-"

// Relations returns the ids of the relations that --relation names, ascending, and how the manifest records them. The
// word all stands for every relation but unlisted, "" for none, and -R leaves R out in both directions.
func (a *Asking) Relations(ctx context.Context, value, unlisted string) (ids []int32, record string, err error) {
	lookup := a.Loaded.Lookup(a.View)
	base, words := int32(len(a.Loaded.Relations)), a.words(value)
	if base > 1 && lookup.HasRelation(unlisted) && slices.Contains(words, All) &&
		!slices.ContainsFunc(words, func(word string) bool { return strings.TrimPrefix(word, leave) == unlisted }) {
		a.E.Say("facts of %s, the relation of types, are not listed unless --relation names it, as %s,%s", unlisted, All, unlisted)
		words = append(words, leave+unlisted)
	}
	var out []int32
	for _, word := range words {
		name, left := strings.CutPrefix(word, leave)
		if left = left && !lookup.HasRelation(word); !left {
			name = word
		}
		name, inverse := strings.CutPrefix(name, "~")
		if name == All && !left {
			for id := range base {
				if inverse {
					id += base
				}
				ids = append(ids, id)
			}
			continue
		}
		id, err := lookup.Relation(ctx, name, inverse)
		if err != nil {
			return nil, "", flagged("relation", err)
		}
		if left {
			out = append(out, id%base, id%base+base)
		} else {
			ids = append(ids, id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id int32) bool { return slices.Contains(out, id) })
	if len(ids) == 0 {
		return nil, "", command.Usage("--relation %s leaves no relation: give some, or %s, and with a %s those to leave out", value, All, leave)
	}
	// The record does not depend on the order of the flag.
	slices.Sort(ids)
	ids = slices.Compact(ids)
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = evaluation.QueryName(evaluation.SplitRelation(a.Loaded.Relations, id))
	}
	return ids, strings.Join(named, ","), nil
}

// words returns the relations that --relation names: what commas separate, or the whole value if that is a name, with a
// comma or spaces around it.
func (a *Asking) words(value string) []string {
	if _, whole := slices.BinarySearch(a.Loaded.Relations, strings.TrimPrefix(value, "~")); whole {
		return []string{value}
	}
	words := strings.Split(value, ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
	}
	return words
}

// flagged makes the error of an unknown name in a flag one of that flag.
func flagged(flag string, err error) error {
	if unknown := new(kg.UnknownNameError); errors.As(err, &unknown) || errors.Is(err, kg.ErrNoTypes) {
		return command.Usage("--%s: %v", flag, err)
	}
	return err
}

// typePrefix begins the value of a flag that names a type of entities.
const typePrefix = "type:"

// list returns the entities of a flag, ascending, or nil for all, and how the manifest records them.
func (a *Asking) list(ctx context.Context, flag, value string) (ids []int32, record string, err error) {
	if value == "" || value == All {
		return nil, "", nil
	}
	if name, typed := strings.CutPrefix(value, typePrefix); typed {
		ids, err = a.View.OfType(ctx, name)
		return ids, value, flagged(flag, err)
	}
	lookup := kg.NewLookup(a.View.Entities, nil)
	ids, err = ReadOnce(ctx, flag, value, func(file string, r io.Reader) (ids []int32, err error) {
		names := NewNames(lookup, file)
		err = triples.ReadNames(file, r, func(line int, name string) error {
			id, err := names.Entity(ctx, line, name)
			ids = append(ids, id)
			return err
		})
		if err == nil {
			err = names.Failed(a.E)
		}
		return ids, err
	})
	if errors.Is(err, fs.ErrNotExist) && lookup.HasEntity(value) {
		return nil, "", command.Usage("--%s: %s is an entity, but no file: give a file with a name on each line, or - and the names on standard input", flag,
			value)
	}
	if err != nil {
		return nil, "", err
	}
	// The record does not depend on the order in the file.
	lines := len(ids)
	slices.Sort(ids)
	ids = slices.Clip(slices.Compact(ids))
	if n := lines - len(ids); n > 0 {
		a.E.Say("%s: duplicate names: %s; each counts once", value, progress.Count(int64(n)))
	}
	hash := sha256.New()
	if err := binary.Write(hash, binary.LittleEndian, ids); err != nil {
		return nil, "", err
	}
	return ids, fmt.Sprintf("%d names, %x", len(ids), hash.Sum(nil)), nil
}

// Output returns --output or, without it, a name.
func (a *Asking) Output(name string) string { return cmp.Or(a.output, name) }

// Name returns a name that is made of the flags, the value of --relation between two words, as far as a folder's name
// can hold them.
func (a *Asking) Name(before, relation, after string) string {
	parts := []string{before, distinct(relation, a.sharesName(relation)), after}
	for _, value := range []string{a.sources, a.candidates} {
		switch {
		case value == "" || value == All:
			value = ""
		case value == StandardInput:
			value = "input"
		case strings.HasPrefix(value, typePrefix):
			value = strings.TrimPrefix(value, typePrefix)
		default:
			value = strings.TrimSuffix(path.Base(value), path.Ext(value))
		}
		parts = append(parts, distinct(value, false))
	}
	if a.graph != kg.All {
		parts = append(parts, a.graph)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "-")
}

// sharesName reports whether a relation that a value of --relation does not name has its short name, up to case, which
// not all storage distinguishes, or another list of relations may have it.
func (a *Asking) sharesName(value string) bool {
	named, shorts := map[string]bool{}, map[string]bool{strings.ToLower(short(value)): true}
	words := a.words(value)
	if len(words) > 1 && utf8.RuneCountInString(short(value)) == longestName {
		return true
	}
	for _, word := range words {
		word = strings.TrimPrefix(word, leave)
		named[word], shorts[strings.ToLower(short(word))] = true, true
	}
	shares := func(other string) bool { return !named[other] && shorts[strings.ToLower(short(other))] }
	return slices.ContainsFunc(a.Loaded.Relations, func(r string) bool { return shares(r) || shares("~"+r) })
}

// distinct returns a text as a part of a folder's name. Digits of its checksum follow if others share its short name,
// or it has none.
func distinct(text string, shared bool) string {
	name := short(text)
	if text == "" || name != "" && !shared {
		return name
	}
	checksum := sha256.Sum256([]byte(text))
	return strings.TrimPrefix(fmt.Sprintf("%s-%x", name, checksum[:4]), "-")
}

// longestName is how many letters of a text a folder's name has.
const longestName = 40

// spelled has the words of signs in folders' names.
var spelled = strings.NewReplacer("~", "inverse-", ","+leave, "-without-", ", "+leave, "-without-")

// short returns the first letters and digits of a text, with a hyphen for all that is between them but
// dots and underscores.
func short(text string) string {
	words := strings.FieldsFunc(spelled.Replace(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '.' && r != '_'
	})
	letters := []rune(strings.Trim(strings.Join(words, "-"), "-."))
	return string(letters[:min(longestName, len(letters))])
}
