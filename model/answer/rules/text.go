package rules

import "strings"

// Text returns a body with the names of base relations, inverse ones with a leading ~: "subsidiary_of, ~owns".
func Text(relations []string, body []int32) string {
	names := make([]string, len(body))
	for i, b := range body {
		if int(b) < len(relations) {
			names[i] = relations[b]
		} else {
			names[i] = "~" + relations[int(b)-len(relations)]
		}
	}
	return strings.Join(names, ", ")
}
