package names

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Index finds the names that contain a text. It holds a copy of their letters without case and accents, which takes about their length in bytes and one
// for each. It may be used concurrently.
type Index struct {
	names  []string
	blocks [][]byte // the folded names of blockNames names each, with a separator behind each
	counts [256]int // of the bytes of the blocks
}

// blockNames is how many names are searched at a time, between looks at the context.
const blockNames = 4096

// separator does not occur in UTF-8, and so in no folded name.
var separator = []byte{0xff}

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
			text = append(appendFolded(text, name), separator...)
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

// eachBlock calls each for the blocks in their order, on all cores, until one call returns false. Then the calls for all blocks before that one
// are made, too.
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

// Containing returns up to count of the names that contain a text, whatever the case and the accents of its letters, and whether there are
// more: first those that WithPrefix returns, then the others in their order. It looks at every name unless it has found enough
// before, with all cores, one search at a time, until ctx ends: then some names are missing.
func (x *Index) Containing(ctx context.Context, text string, count int) (found []string, more bool) {
	begin, more := WithPrefix(x.names, text, count)
	if more || text == "" {
		return begin, more
	}
	if !enter(ctx) {
		return begin, more
	}
	defer leave()
	wanted, missing := x.newPattern(text), count+1-len(begin)
	parts := make([][]string, len(x.blocks))
	var elsewhere atomic.Int64
	x.eachBlock(func(i int) bool {
		if ctx.Err() != nil {
			return false
		}
		parts[i] = x.search(i, wanted, begin, missing)
		return elsewhere.Add(int64(len(parts[i]))) < int64(missing)
	})
	found = slices.Concat(begin, slices.Concat(parts...))
	return found[:min(count, len(found))], len(found) > count
}

// search returns up to most names of a block that contain a text, without those that are found already.
func (x *Index) search(block int, wanted pattern, already []string, most int) (found []string) {
	text, at := x.blocks[block], block*blockNames
	for len(found) < most {
		hit := wanted.index(text)
		if hit < 0 {
			break
		}
		at += bytes.Count(text[:hit], separator)
		if name := x.names[at]; !slices.Contains(already, name) {
			found = append(found, name)
		}
		text = text[hit:]
		text = text[bytes.Index(text, separator)+1:]
		at++
	}
	return found
}

// pattern is a text to search for.
type pattern struct {
	folded []byte
	rare   int // the index of the byte that names have least often: most of them are passed over by looking for it alone
}

// newPattern folds a text and notes its rarest byte in the names, by which they are searched.
func (x *Index) newPattern(text string) (p pattern) {
	p.folded = appendFolded(nil, text)
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
		to = utf8.AppendRune(to, folds(letter))
	}
	return to
}
