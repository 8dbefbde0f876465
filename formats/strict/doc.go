// Package strict decodes JSON that people write or edit. A key that the Go type does not have, a key that stands twice, a value
// of another type, null and text after the end are errors with the line and the column, which encoding/json lets pass or
// reports without them.
package strict
