package golden

import (
	"encoding/json"
	"fmt"
	"slices"

	"tagnet/model/weights/configuration"
)

// required are the fields that the configuration of every case must have, optional the fields that
// it may have. No case has dropout or the fields of the optimizer.
var (
	required = []string{"dim", "layers", "delta", "policy", "aggregate", "message", "dependent", "degree_messages",
		"delta_mode", "attention", "temperature", "adversarial_temperature", "remove"}
	optional = []string{"bias", "node_ratio", "degree_ratio", "relations", "relation_layers", "loss"}
)

// readConfiguration reads a case's configuration over the defaults (a bias is there unless
// it says otherwise).
func readConfiguration(text json.RawMessage) (configuration.Configuration, error) {
	c := configuration.Default()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			return c, fmt.Errorf("config: %s is missing", name)
		}
	}
	for name := range fields {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return c, fmt.Errorf("config: %s is not understood", name)
		}
	}
	if err := c.Parse(text); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	if c.Prioritized() && (fields["node_ratio"] == nil || fields["degree_ratio"] == nil) {
		return c, fmt.Errorf("config: policy %s needs node_ratio and degree_ratio", c.Policy)
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	return c, nil
}
