package strict

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Mistake returns an Error at a value that has the right type but that the caller does not accept. path holds the keys
// and list indexes that lead to the value. If the document has no such value, the error points at the object or list
// that lacks it.
func Mistake(file string, text []byte, message string, path ...string) *Error {
	w := walk{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	line, column := Position(text, w.find(path, w.skip()))
	return &Error{File: file, Line: line, Column: column, Message: message}
}

// find reads the next value and returns the offset of the value at a path inside it. start is the offset of the value
// that is read, or of its key; find returns it if there is nothing at the path.
func (w walk) find(path []string, start int) int {
	token, err := w.decoder.Token()
	list := token == json.Delim('[')
	if err != nil || len(path) == 0 || !list && token != json.Delim('{') {
		return start
	}
	for i := 0; w.decoder.More(); i++ {
		at, key := w.skip(), strconv.Itoa(i)
		if !list {
			token, err := w.decoder.Token()
			if err != nil {
				return start
			}
			key = token.(string)
		}
		if key == path[0] {
			return w.find(path[1:], at)
		}
		if err := w.decoder.Decode(new(json.RawMessage)); err != nil {
			return start
		}
	}
	return start
}
