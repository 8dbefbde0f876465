package strict

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Mistake returns the Error of a value that fits its type, but that the caller does not accept. Keys and indexes of lists lead
// to the value. Where the document lacks it, the error is that of the object or list without it.
func Mistake(file string, text []byte, message string, path ...string) *Error {
	w := walk{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	line, column := Position(text, w.find(path, w.skip()))
	return &Error{File: file, Line: line, Column: column, Message: message}
}

// find returns the offset of the value at a path below the next value, whose own offset, or that of its key, is start.
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
