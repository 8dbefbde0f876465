package names

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Index finds the names that contain a text. It holds a copy of their letters without case and accents, which takes
// about their length in bytes and one for each. It may be used concurrently.
type Index struct {
	names  []string
	blocks [][]byte // the folded names of blockNames names each, with a separator before each
	counts [256]int // of the bytes of the blocks
}

// blockNames is how many names are searched at a time, between looks at the context.
const blockNames = 4096

// separator does not occur in UTF-8, and so in no folded name.
const separator = 0xff

// NewIndex returns an index of names, which are in byte order, as a graph's are. It uses all cores.
func NewIndex(names []string) *Index {
	x := &Index{names: names, blocks: make([][]byte, (len(names)+blockNames-1)/blockNames)}
	var counting sync.Mutex
	x.eachBlock(func(i int) bool {
		block := names[i*blockNames : min((i+1)*blockNames, len(names))]
		size := len(block)
		for _, name := range block {
			size += len(name)
		}
		text := make([]byte, 0, size)
		for _, name := range block {
			text = appendFolded(append(text, separator), name)
		}
		x.blocks[i] = text
		var counts [256]int
		for _, b := range text {
			counts[b]++
		}
		counting.Lock()
		defer counting.Unlock()
		for b, n := range counts {
			x.counts[b] += n
		}
		return true
	})
	return x
}

// eachBlock calls each for the blocks in their order, on all cores, until one call returns false. Then the calls for
// all blocks before that one are made, too.
func (x *Index) eachBlock(each func(block int) bool) {
	var next atomic.Int64
	var ended atomic.Bool
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(x.blocks)) {
		all.Go(func() {
			for !ended.Load() {
				i := int(next.Add(1) - 1)
				if i >= len(x.blocks) {
					return
				}
				if !each(i) {
					ended.Store(true)
				}
			}
		})
	}
	all.Wait()
}

// WithPrefix returns up to count of the names that begin with a text, whatever the case and the accents of its letters,
// and whether there are more: first those that begin with it as it is written, then the others in their order.
// Containing says how it searches.
func (x *Index) WithPrefix(ctx context.Context, text string, count int) (found []string, more bool) {
	return x.find(ctx, text, count, false)
}

// Containing returns up to count of the names that contain a text, whatever the case and the accents of its
// letters, and whether there are more: first those that WithPrefix returns, then the others in their order. It
// looks at every name unless it has found enough before, with all cores, one search at a time, until ctx ends: then
// some names are missing.
func (x *Index) Containing(ctx context.Context, text string, count int) (found []string, more bool) {
	return x.find(ctx, text, count, true)
}

// find finds the names that begin with a text, or that also contain it elsewhere.
func (x *Index) find(ctx context.Context, text string, count int, elsewhere bool) (found []string, more bool) {
	first, _ := slices.BinarySearch(x.names, text)
	for _, name := range x.names[first:] {
		if len(found) > count || !strings.HasPrefix(name, text) {
			break
		}
		found = append(found, name)
	}
	if sought := appendFolded(nil, text); len(found) <= count && len(sought) > 0 && enter(ctx) {
		defer leave()
		found = x.search(ctx, x.newPattern(append([]byte{separator}, sought...)), found, count+1)
		if elsewhere {
			found = x.search(ctx, x.newPattern(sought), found, count+1)
		}
	}
	return found[:min(count, len(found))], len(found) > count
}

// search appends names with a pattern to found, up to most in all.
func (x *Index) search(ctx context.Context, sought pattern, found []string, most int) []string {
	parts := make([][]string, len(x.blocks))
	var further atomic.Int64
	x.eachBlock(func(i int) bool {
		if ctx.Err() != nil {
			return false
		}
		parts[i] = x.searchBlock(i, sought, found, most-len(found))
		return further.Add(int64(len(parts[i]))) < int64(most-len(found))
	})
	found = append(found, slices.Concat(parts...)...)
	return found[:min(most, len(found))]
}

// searchBlock returns up to most names of a block with a pattern, without those that are found already.
func (x *Index) searchBlock(block int, sought pattern, already []string, most int) (found []string) {
	text, at := x.blocks[block], block*blockNames-1 // at is the index of the name before the text
	for len(found) < most {
		hit := sought.index(text)
		if hit < 0 {
			break
		}
		at += bytes.Count(text[:hit+1], []byte{separator})
		if name := x.names[at]; !slices.Contains(already, name) {
			found = append(found, name)
		}
		next := bytes.IndexByte(text[hit+1:], separator)
		if next < 0 {
			break
		}
		text = text[hit+1+next:]
	}
	return found
}

// pattern is a text to search for.
type pattern struct {
	folded []byte
	rare   int // the index of the byte that names have least often: most of them are passed over by looking for it alone
}

// newPattern notes the rarest byte of a folded text in the names, by which they are searched.
func (x *Index) newPattern(folded []byte) pattern {
	p := pattern{folded: folded}
	for i, b := range p.folded {
		if x.counts[b] < x.counts[p.folded[p.rare]] {
			p.rare = i
		}
	}
	return p
}

// index returns where the pattern begins in a text, or -1.
func (p pattern) index(text []byte) int {
	for from := p.rare; from < len(text); from++ {
		next := bytes.IndexByte(text[from:], p.folded[p.rare])
		if next < 0 {
			break
		}
		from += next
		if bytes.HasPrefix(text[from-p.rare:], p.folded) {
			return from - p.rare
		}
	}
	return -1
}

// appendFolded appends the letters of a text without their case and accents.
func appendFolded(to []byte, text string) []byte {
	for _, letter := range text {
		for _, plain := range folds(letter) {
			if plain != 0 {
				to = utf8.AppendRune(to, plain)
			}
		}
	}
	return to
}
