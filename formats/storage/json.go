package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/strict"
)

// ReadJSON reads a file that holds one JSON value, and checks the value. It returns the errors of Open; other errors
// name the file.
func ReadJSON[T strict.Checked](ctx context.Context, url string) (value T, err error) {
	text, err := ReadText(ctx, url)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return value, fmt.Errorf("reading %s: %w", url, err)
	}
	if err := value.Check(); err != nil {
		return value, fmt.Errorf("reading %s: %w", url, err)
	}
	return value, nil
}

// WriteJSON writes a value as indented JSON and a newline. The file appears whole or not at all.
func WriteJSON(ctx context.Context, url string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", url, err)
	}
	return WriteFile(ctx, url, append(text, '\n'))
}
