package command

import (
	"strings"

	"tagnet/model/weights/configuration"
)

// CheckConfiguration returns a usage error that names the flag of each hyperparameter that is not valid, or its key in
// a preset file.
func CheckConfiguration(c configuration.Configuration) error {
	var mistakes []string
	for _, v := range c.Violations() {
		mistake := v.Error()
		if f, _ := configuration.FieldNamed(v.Field); f.IsFlag() {
			mistake = "--" + mistake
		}
		mistakes = append(mistakes, mistake)
	}
	if len(mistakes) == 0 {
		return nil
	}
	return Usage("%s", strings.Join(mistakes, "\n"))
}
