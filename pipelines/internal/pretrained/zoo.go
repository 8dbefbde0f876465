package pretrained

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tagnet/infra/zoo"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
)

// ModelUsage explains the flag --model, which may name a file where files is set.
func ModelUsage(files bool) string {
	file, text := "", "a small trained model that tagnet comes with"
	if files {
		file, text = "|FILE.pth", text+", or a file of ULTRA's weights, which answer on any graph"
	}
	return fmt.Sprintf("`%s%s`: %s, instead of a checkpoint", strings.Join(zoo.Names, "|"), file, text)
}

// Model is a model of the zoo.
type Model struct{ zoo.Model }

// OpenModel returns the model that --model names, which may name a file elsewhere where files is set.
func OpenModel(name string, files bool) (Model, error) {
	m, err := zoo.Open(name)
	if errors.Is(err, zoo.ErrUnknown) {
		want := "one of " + strings.Join(zoo.Names, ", ")
		if files {
			want += ", or FILE.pth, a file of ULTRA's weights"
		}
		return Model{}, command.FlagError("model", strconv.Quote(name), want)
	}
	if err != nil {
		return Model{}, fmt.Errorf("--model %s: this program was built of other files than the repository's: build it again: %w", name, err)
	}
	return Model{m}, nil
}

// IsFile reports whether --model names a file of weights rather than a model of the zoo: it ends in .pth or .pt, or has a
// path separator.
func IsFile(model string) bool {
	return strings.HasSuffix(model, ".pth") || strings.HasSuffix(model, ".pt") || strings.ContainsAny(model, `/\`)
}

// Describe returns a line about the model.
func (m Model) Describe() string {
	c := m.Record.Configuration
	return fmt.Sprintf("model %s: trained on %s, %d layers, %d dimensions, validation MRR %.4f", m.Name, m.Card.Dataset, c.Layers, c.Dim, m.Record.Valid.Pessimistic.MRR)
}

// Over returns the checkpoint of the model over the relations of a graph, which are matched by name.
func (m Model) Over(loaded *kg.KG) (*Checkpoint, error) {
	trained := m.Record.Vocabulary.Relations
	set, unused, err := m.Record.Over(m.Weights, loaded.Relations)
	if unknown := new(checkpoint.UnknownRelationsError); errors.As(err, &unknown) {
		return nil, command.Usage("--model %s: %s; train a model on this data set, or use ULTRA's weights (score --model FILE.pth)", m.Name, differences(unknown))
	}
	if err != nil {
		return nil, fmt.Errorf("--model %s: %w", m.Name, err)
	}
	made := &Checkpoint{weights: checkpoint.Tensors(set.Tensors), Record: m.Record}
	made.Record.Origin = &checkpoint.Origin{
		Model: m.Name, File: m.Record.Weights.Name, SHA256: m.Record.Weights.SHA256,
		Relations: fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(trained, "\n")+"\n"))),
	}
	return made, made.describe(loaded, unused, m.Name)
}

// How many relations an error or a notice names: of those that the model lacks many, since they decide whether it can be used.
const (
	many = 12
	few  = 3
)

// differences says which relations a model and a graph do not share.
func differences(e *checkpoint.UnknownRelationsError) string {
	text := fmt.Sprintf("the model does not know %s of the graph's relations (%s)", count(e.Unknown), some(e.Unknown, many))
	if len(e.Unused) > 0 {
		text += fmt.Sprintf(", and the graph lacks %s of the model's (%s)", count(e.Unused), some(e.Unused, few))
	}
	return text
}
