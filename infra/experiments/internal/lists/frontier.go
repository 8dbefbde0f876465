package lists

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/workspace/counts"
	"tagnet/infra/internal/engine"
)

// FrontierResults is the folder of the results of a Frontier, beside its list.
const FrontierResults = "frontier/results"

// TraitsCommand is the command in a result of a Frontier that reads what choices depend on: Traits.
const TraitsCommand = "traits"

// Frontier lists short trainings with a few choices of hyperparameters, from which train --minutes chooses. Protocol
// says for readers how.
type Frontier struct {
	Protocol []string  `json:"protocol"`
	Choices  []Choice  `json:"choices"`
	Studied  []Studied `json:"studied"`
}

// Choice is hyperparameters, as flags of train.
type Choice struct {
	Name  string `json:"name"`
	Flags string `json:"flags"`
}

// Studied is a graph that is trained on: of a folder below that of the data, or made by infra/generate with flags.
type Studied struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
	Made   string `json:"made"`
	// Trainings has the amounts of the trainings with each choice: EPOCHSxQUERIES, where QUERIES is the most of an
	// epoch, or Untrained.
	Trainings map[string][]string `json:"trainings"`
	// Earlier has validation MRRs that were measured in another way, which Source says, by the choice and the number of
	// queries, and Traits those of the graph where there may be no result.
	Earlier map[string]map[string]float64 `json:"earlier"`
	Source  string                        `json:"source"`
	Traits  Traits                        `json:"traits"`
}

// Untrained is the amount with which the model is ranked that the trainings of a choice begin with.
const Untrained = "untrained"

// Traits are the numbers of a graph that train --minutes compares.
type Traits struct {
	Facts     int64   `json:"facts"`
	Entities  int64   `json:"entities"`
	Relations int64   `json:"relations"`
	Answers   float64 `json:"answers"` // of a training query
}

// RunName returns the name of the result of a training.
func (s Studied) RunName(c Choice, amount string) string { return s.Name + "/" + c.Name + "-" + amount }

// amountFlags returns the flags of train that a training has beside its choice. The learning rate of the last epoch is
// .12 times that of the first.
func amountFlags(amount string) ([]string, error) {
	var epochs, queries int
	if _, err := fmt.Sscanf(amount+"\n", "%dx%d\n", &epochs, &queries); err != nil || epochs < 2 || queries < 1 {
		return nil, fmt.Errorf("trainings: %q: want a number of epochs from 2 and one of queries, as in 8x1000, or %s", amount, Untrained)
	}
	decay := math.Round(1000*math.Pow(.12, 1/float64(epochs-1))) / 1000
	return []string{
		"--epochs", strconv.Itoa(epochs), "--queries_per_epoch", strconv.Itoa(queries), "--learning_rate_decay", fmt.Sprint(decay),
		"--validate_every", strconv.Itoa(epochs), "--valid_limit", "400", "--seed", "1",
	}, nil
}

// Runs returns the trainings, of each graph in the order of the choices.
func (l Frontier) Runs(int) (runs []engine.Run, err error) {
	for _, s := range l.Studied {
		for choice := range s.Trainings {
			if !slices.ContainsFunc(l.Choices, func(c Choice) bool { return c.Name == choice }) {
				err = cmp.Or(err, fmt.Errorf("%s: trainings: there is no choice %q", s.Name, choice))
			}
		}
		for _, c := range l.Choices {
			for _, amount := range s.Trainings[c.Name] {
				r, wrong := s.run(c, amount)
				runs, err = append(runs, r), cmp.Or(err, wrong)
			}
		}
	}
	return runs, err
}

// run returns the commands that make the graph, train, if the amount is one, and rank validation queries.
func (s Studied) run(c Choice, amount string) (engine.Run, error) {
	r := engine.Run{Name: s.RunName(c, amount), Inputs: map[string]string{"flags": c.Flags, "made": s.Made}}
	dataset := below(s.Folder)
	if s.Made != "" {
		dataset = s.Name + "-facts"
		line := append([]string{"go", "run", "./infra/generate", "--out", dataset}, strings.Fields(s.Made)...)
		r.Commands = append(r.Commands, engine.Command{Words: words(line...)})
	}
	r.Commands = append(r.Commands, preprocess(s.Name, dataset, ""),
		engine.Command{Name: TraitsCommand, Make: func(ctx context.Context, work string) (any, error) {
			return readTraits(ctx, filepath.Join(work, s.Name, "graph"))
		}})
	name := c.Name + "-" + amount
	ranked := []string{"tagnet", "score", "--workspace", s.Name, "--run", name}
	if amount == Untrained {
		_, model, _ := strings.Cut(c.Flags, "--from ")
		ranked = append(ranked, "--model", model)
	} else {
		amounts, err := amountFlags(amount)
		if err != nil {
			return r, err
		}
		training := train(TrainCommand, s.Name, name, slices.Concat(strings.Fields(c.Flags), amounts, largeThread)...)
		training.Unfitted = true
		r.Commands = append(r.Commands, training)
	}
	ranked = slices.Concat(ranked, []string{"--split", "valid", "--limit", "2000", "--top_k", "0"}, largeThread)
	r.Commands = append(r.Commands, engine.Command{Name: ScoreCommand, Words: words(ranked...), Evaluation: s.Name + "/runs/" + name + "/evaluation/valid"})
	return r, nil
}

var largeThread = resources(1, 3072, "--device", "cpu")

func readTraits(ctx context.Context, folder string) (Traits, error) {
	d, err := counts.ReadDataset(ctx, folder)
	return Traits{d.Facts, d.Entities, d.Relations, math.Round(100*float64(d.Queries["train"])/float64(max(1, d.Distinct["train"]))) / 100}, err
}
