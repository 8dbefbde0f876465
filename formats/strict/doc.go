// Package strict decodes JSON that people write or edit. An unknown key, a repeated key, a value of another type, null, and text after
// the end are errors with a line and a column; encoding/json accepts most of them, and reports the others without a position.
package strict
