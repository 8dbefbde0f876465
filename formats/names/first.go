package names

import (
	"fmt"
	"strconv"
	"strings"
)

// First lists the first names, quoted, up to a number of them, and says how many more there are.
func First(list []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range list[:min(most, len(list))] {
		shown = append(shown, strconv.Quote(name))
	}
	text := strings.Join(shown, ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}
