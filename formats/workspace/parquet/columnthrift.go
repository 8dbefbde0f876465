package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/thrift/lib/go/thrift"
)

// maxDepth bounds how deep structs, and groups of a schema, are nested.
const maxDepth = 64

// walker goes through a struct in Thrift's compact protocol. A field has a path of the numbers that Parquet's
// definition gives to fields: "5.1" is field 1 of the struct in field 5.
type walker struct {
	thrift.TProtocol
	// numbers are the last 32-bit numbers of each path, with 1 for true.
	numbers map[string]int32
	// elements are the types of the elements of lists. Lists that are not there may have any, and are skipped.
	elements map[string]thrift.TType
	// each, unless it is nil, is called after each struct of a list.
	each func(path string) error
}

// walk goes through the struct that data begin with, and returns its length.
func (w *walker) walk(data []byte) (length int, err error) {
	rest := bytes.NewBuffer(data)
	// A text or a list that is longer than data is an error.
	limits := &thrift.TConfiguration{MaxMessageSize: int32(min(len(data), 1<<30))}
	w.TProtocol = thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: rest}, limits)
	w.numbers = map[string]int32{}
	err = w.fields("", maxDepth)
	return len(data) - rest.Len(), err
}

func (w *walker) fields(parent string, depth int) error {
	ctx := context.Background()
	if depth == 0 {
		return errors.New("its structs are nested too deep")
	}
	if _, err := w.ReadStructBegin(ctx); err != nil {
		return err
	}
	for {
		_, kind, id, err := w.ReadFieldBegin(ctx)
		switch {
		case err != nil:
			return err
		case kind == thrift.STOP:
			return w.ReadStructEnd(ctx)
		}
		path := parent + strconv.Itoa(int(id))
		switch kind {
		case thrift.I32:
			w.numbers[path], err = w.ReadI32(ctx)
		case thrift.BOOL:
			var set bool
			if set, err = w.ReadBool(ctx); set {
				w.numbers[path] = 1
			} else {
				w.numbers[path] = 0
			}
		case thrift.STRUCT:
			err = w.fields(path+".", depth-1)
		case thrift.LIST:
			err = w.list(path, depth-1)
		default:
			err = w.Skip(ctx, kind)
		}
		if err != nil {
			return err
		}
	}
}

func (w *walker) list(path string, depth int) error {
	ctx := context.Background()
	kind, size, err := w.ReadListBegin(ctx)
	if err != nil {
		return err
	}
	if want, ok := w.elements[path]; ok && kind != want && size > 0 {
		return fmt.Errorf("the elements of list %s have the type %s", path, kind)
	}
	for range size {
		if kind == thrift.STRUCT {
			if err = w.fields(path+".", depth); err == nil && w.each != nil {
				err = w.each(path)
			}
		} else {
			err = w.Skip(ctx, kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// footerLists are the lists of a footer that Arrow reads. It takes their elements to have these types, and allocates as
// many as they declare.
var footerLists = map[string]thrift.TType{
	"2": thrift.STRUCT, "4": thrift.STRUCT, "5": thrift.STRUCT, "7": thrift.STRUCT, "4.1": thrift.STRUCT, "4.4": thrift.STRUCT,
	"4.1.3.2": thrift.I32, "4.1.3.3": thrift.STRING, "4.1.3.8": thrift.STRUCT, "4.1.3.13": thrift.STRUCT, "4.1.8.2.1": thrift.STRING,
}

// checkFooter returns an error if a footer declares more than it has, or a schema that is not a tree.
func checkFooter(footer []byte) error {
	const schema, children = "2", "2.5"
	lacking := []int32{1} // children that each open group lacks, the outermost first; it begins with the root
	w := walker{elements: footerLists}
	w.each = func(path string) error {
		if path != schema {
			return nil
		}
		for len(lacking) > 0 && lacking[len(lacking)-1] == 0 {
			lacking = lacking[:len(lacking)-1]
		}
		n := w.numbers[children]
		delete(w.numbers, children)
		if len(lacking) == 0 || len(lacking) > maxDepth || n < 0 || int(n) > len(footer) {
			return errors.New("its schema is no tree, or nested too deep")
		}
		lacking[len(lacking)-1]--
		if n > 0 {
			lacking = append(lacking, n)
		}
		return nil
	}
	if _, err := w.walk(footer); err != nil {
		return err
	}
	for _, n := range lacking {
		if n > 0 {
			return errors.New("its schema lacks columns")
		}
	}
	return nil
}
