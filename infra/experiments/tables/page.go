package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
)

// text builds the page.
type text struct{ strings.Builder }

// say adds a paragraph.
func (t *text) say(format string, arguments ...any) { fmt.Fprintf(t, format+"\n\n", arguments...) }

// list writes lines as items of a list.
func (t *text) list(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(t, "- %s\n", line)
	}
	t.WriteString("\n")
}

// file returns the text as that of a file.
func (t *text) file() string { return strings.TrimRight(t.String(), "\n") + "\n" }

// table adds a table.
func (t *text) table(head []string, rows [][]string) {
	fmt.Fprintf(t, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		fmt.Fprintf(t, "| %s |\n", strings.Join(row, " | "))
	}
	t.WriteString("\n")
}

// page returns RESULTS.md and draws the figures.
func (e *evidence) page() string {
	t := &text{}
	t.say("<!-- Written by `go run ./infra/experiments/tables` (`make results`) from results/, counts/, reach.json, reach/results/, notes.md and tables/published.json: change those instead. -->")
	t.say("# Results")
	t.say("The tables of the paper (%s) from trainings of this repository. Every number comes from a file in `results/`, one for each training, and [the last section](#every-cell) has the command that repeats it. A number in parentheses is the paper's.", e.published.Paper)
	e.summary(t)
	e.budgets(t)
	e.degrees(t)
	e.deltas(t)
	e.curves(t)
	e.messages(t)
	e.protocols(t)
	e.reaches(t)
	e.further(t)
	e.tried(t)
	e.explained(t)
	e.measured(t)
	e.everyCell(t)
	return t.file()
}

// numbers returns the numbers of a method on datasets, with their metrics in the order of the tables.
func (e *evidence) numbers(m method, datasets []string) (list []number) {
	for _, dataset := range datasets {
		for _, metric := range shownMetrics {
			if paper, ok := m.Figures[dataset][metric.key]; ok {
				list = append(list, newNumber(e.cell(dataset, m.Experiment), m.Method, metric.Metric, paper))
			}
		}
	}
	return list
}

// mainNumbers returns the numbers of both main tables.
func (e *evidence) mainNumbers() (list []number) {
	for _, datasets := range [][]string{transductive, inductive} {
		for _, m := range e.published.Methods {
			list = append(list, e.numbers(m, datasets)...)
		}
	}
	return list
}

// summary adds the two main tables, and how many of their cells hold.
func (e *evidence) summary(t *text) {
	var count [lower + 1]int
	all := e.mainNumbers()
	for _, n := range all {
		count[n.verdict()]++
	}
	alone := 0
	for _, n := range all {
		if v := n.verdict(); (v == within || v == lower) && n.difference() >= -n.ofSeeds {
			alone++
		}
	}
	t.say("Of the %d numbers of the paper's two main tables, **%d are measured here**: %d at or above the paper's (✓), %d below it by less than one standard error (≈), and %d by more (▼, [see why](#where-ours-differs)). %d are missing. The standard error is that of [seeds and test queries](#how-it-was-measured); by that of the seeds alone %d of the %d that are below would be within it.",
		len(all), len(all)-count[missing], count[reached], count[within], count[lower], count[missing], alone, count[within]+count[lower])
	t.say("Ranks are filtered and pessimistic, over both directions and all entities. Hyperparameters and checkpoints are chosen on the validation split. ± is the standard deviation over seeds.")
	t.say("**Transductive**")
	head := []string{""}
	for _, dataset := range transductive {
		for _, m := range shownMetrics {
			head = append(head, dataset+" "+m.Name)
		}
	}
	e.mainTable(t, head, transductive)
	t.say("**Inductive**, Hits@10")
	e.mainTable(t, append([]string{""}, inductive...), inductive)
}

// mainTable adds a table with a row for each method.
func (e *evidence) mainTable(t *text, head []string, datasets []string) {
	var rows [][]string
	for _, m := range e.published.Methods {
		row := []string{m.Method}
		for _, n := range e.numbers(m, datasets) {
			row = append(row, n.short())
		}
		rows = append(rows, row)
	}
	t.table(head, rows)
}

// short writes a number for a main table: ours, its verdict, the paper's, and whether seeds are missing.
func (n number) short() string {
	if n.ours.N == 0 {
		return fmt.Sprintf("–<br>(%s)", three(n.paper))
	}
	return fmt.Sprintf("%s %s<br>(%s)%s", plus(n.ours), n.verdict().sign(), three(n.paper), n.cell.lacking())
}

// lacking returns lines about what is wrong with a cell: seeds that are missing, or another configuration.
func (c *cell) lacking() string {
	var text string
	if done := len(c.Results); done < len(c.seeds) {
		text = fmt.Sprintf("<br>%d of %d seeds", done, len(c.seeds))
	}
	if c.stale {
		text += "<br>stale: another configuration"
	}
	return text
}

// seedsDone returns how many seeds have a result, of how many if some lack one, and whether the results are stale.
func (c *cell) seedsDone() string {
	text := fmt.Sprint(len(c.Results))
	if planned := len(c.seeds); planned > len(c.Results) {
		text += fmt.Sprintf(" of %d", planned)
	}
	if c.stale {
		text += ", stale"
	}
	return text
}

// pair is NBFNet on a dataset, and fixed delta with the same hyperparameters.
type pair struct{ fixed, full *cell }

// pairs returns the datasets that both were trained on, in the order of the tables.
func (e *evidence) pairs() (list []pair) {
	for _, dataset := range slices.Concat(transductive, inductive) {
		full := e.cell(dataset, "full")
		if fixed := e.windowed(full); len(fixed.Results) > 0 && len(full.Results) > 0 {
			list = append(list, pair{fixed, full})
		}
	}
	return list
}

// windowed returns the cell of fixed delta with the hyperparameters of a cell of NBFNet, which may be trained for fewer epochs than
// the main tables' fixed delta, or an empty cell.
func (e *evidence) windowed(full *cell) *cell {
	for _, key := range slices.Sorted(maps.Keys(e.cells)) {
		c := e.cells[key]
		same := full.configuration
		same.Policy, same.DegreeMessages, same.ShareStates = c.configuration.Policy, c.configuration.DegreeMessages, c.configuration.ShareStates
		if c.Dataset == full.Dataset && c.Experiment == "fixed" && c.configuration == same {
			return c
		}
	}
	return &cell{}
}

// compared writes the difference of two means with its standard error over seeds.
func compared(a, b comparison.Spread) string {
	text := signed(a.Mean - b.Mean)
	if standardError := math.Hypot(a.Error(), b.Error()); !math.IsNaN(standardError) {
		text += " ± " + three(standardError)
	}
	return text
}

// budgets compares fixed delta with NBFNet, trained for as many epochs with the same hyperparameters.
func (e *evidence) budgets(t *text) {
	t.say("## TAGNet against NBFNet, with equal budgets")
	pairs := e.pairs()
	if len(pairs) == 0 {
		t.say("Not measured yet: no dataset has both experiments, `fixed` and `full`.")
		return
	}
	t.say("Both are trained here with the same preset, epochs, negatives and seeds; NBFNet (`--policy full`) sends a message along every edge in every layer, and needs no degree messages. A difference is that of the means, ± its standard error over seeds.")
	var rows [][]string
	notLower := 0
	for _, p := range pairs {
		fixed, full := p.fixed, p.full
		row := []string{full.Dataset, fmt.Sprint(full.configuration.Epochs), fmt.Sprintf("%d, %d", len(fixed.Results), len(full.Results))}
		loss := false
		for _, m := range []comparison.Metric{comparison.MRR, comparison.Hits10} {
			ours, theirs := fixed.Metric(results.TestProtocol, m), full.Metric(results.TestProtocol, m)
			both := math.Hypot(newNumber(fixed, "", m, 0).standardError(), newNumber(full, "", m, 0).standardError())
			loss = loss || ours.Mean-theirs.Mean < -both
			row = append(row, plus(ours), plus(theirs), compared(ours, theirs), three(both))
		}
		if !loss {
			notLower++
		}
		sent := fixed.Sent(results.TestProtocol).Mean / full.Sent(results.TestProtocol).Mean
		cpu := "–"
		if a, b := fixed.CPUSeconds(), full.CPUSeconds(); a.N > 0 && b.N > 0 {
			cpu = fmt.Sprintf("%.2f", a.Mean/b.Mean)
		}
		rows = append(rows, append(row, percent(1-sent), cpu))
	}
	t.table([]string{"", "epochs", "seeds", "MRR, TAGNet", "NBFNet", "difference", "SE with queries", "Hits@10, TAGNet", "NBFNet", "difference", "SE with queries", "messages saved", "processor time, of NBFNet's"}, rows)
	t.say("On %d of %d datasets neither MRR nor Hits@10 is lower than NBFNet's by more than one standard error of seeds and test queries.", notLower, len(pairs))
	e.hitsByDistance(t, pairs)
}

// degrees adds the ablation of degree messages.
func (e *evidence) degrees(t *text) {
	t.say("## Degree messages")
	t.say("Specific delta, Hits@10. Where the window leaves messages out, a degree message tells the receiver how many.")
	var rows [][]string
	for _, dataset := range inductive {
		row := []string{dataset}
		without, with := e.cell(dataset, "specific-degree"), e.cell(dataset, "specific")
		if without.file != "" && without.configuration.DegreeMessages {
			without, with = with, without
		}
		for i, c := range []*cell{without, with} {
			paper := []figures{e.published.DegreeMessages.Without, e.published.DegreeMessages.With}[i][dataset]["hits@10"]
			row = append(row, newNumber(c, "", comparison.Hits10, paper).short())
		}
		difference := "–"
		if a, b := with.Metric(results.TestProtocol, comparison.Hits10), without.Metric(results.TestProtocol, comparison.Hits10); a.N > 0 && b.N > 0 {
			difference = compared(a, b)
		}
		rows = append(rows, append(row, difference))
	}
	t.table([]string{"", "without", "with", "difference ± SE of seeds"}, rows)
}

// ofPaper reports whether a table above the further experiments shows a cell: one of the main tables, of the ablation or of quality by delta.
func (e *evidence) ofPaper(c *cell) bool {
	if len(c.Varied) == 0 {
		return c.Experiment == "specific-degree" || slices.ContainsFunc(e.published.Methods, func(m method) bool {
			return m.Experiment == c.Experiment && m.Figures[c.Dataset] != nil
		})
	}
	return slices.Contains(e.deltaCells(c.Dataset), c)
}

// further adds the results of experiments that are not in the paper, by dataset.
func (e *evidence) further(t *text) {
	byDataset := map[string][]comparison.Group{}
	for _, key := range slices.Sorted(maps.Keys(e.cells)) {
		if c := e.cells[key]; !e.ofPaper(c) && len(c.Results) > 0 {
			byDataset[c.Dataset] = append(byDataset[c.Dataset], c.Group)
		}
	}
	if len(byDataset) == 0 {
		return
	}
	t.say("## Further experiments")
	t.say("These are not in the paper. The column \"configuration\" lists the differences from `fixed` of the same dataset, which is the first row.")
	for _, dataset := range slices.Sorted(maps.Keys(byDataset)) {
		groups := byDataset[dataset]
		if fixed := e.cell(dataset, "fixed"); len(fixed.Results) > 0 {
			groups = append([]comparison.Group{fixed.Group}, groups...)
		}
		t.say("**%s**", dataset)
		e.modelTable(t, groups)
		for _, g := range groups {
			if note := e.notes[g.Key()]; note != "" {
				t.say("`%s`: %s", g.Name(), note)
			}
		}
		if len(groups) > 1 {
			lines := comparison.ByExperiment(groups, results.TestProtocol)
			lines = lines[:min(len(lines), comparison.MostSeries)]
			t.say("%s", e.figure("further-"+dataset, "MRR against messages, "+dataset, comparison.AgainstMessages(results.TestProtocol, comparison.MRR, lines)))
		}
	}
}

// tried adds the notes on changes of the program that were measured apart.
func (e *evidence) tried(t *text) {
	if len(e.trials) == 0 {
		return
	}
	t.say("## Measured apart")
	for _, title := range e.trials {
		t.say("**%s**. %s", title, e.notes[title])
	}
}

// modelTable adds a table with a row for each group.
func (e *evidence) modelTable(t *text, groups []comparison.Group) {
	var rows [][]string
	for _, g := range groups {
		row := []string{"`" + g.Name() + "`", changes(groups[0], g), fmt.Sprint(len(g.Results))}
		for _, m := range shownMetrics {
			row = append(row, plus(g.Metric(results.TestProtocol, m.Metric)))
		}
		rows = append(rows, append(row, plus(g.Validation()), percent(1-g.Sent(results.TestProtocol).Mean), duration(g.CPUSeconds()), e.command(e.cells[g.Key()])))
	}
	t.table([]string{"", "configuration", "seeds", "MRR", "Hits@1", "Hits@10", "validation MRR", "messages saved", "processor time", "repeat"}, rows)
}

// changes returns the fields of a group's configuration that differ from a base.
func changes(base, g comparison.Group) string {
	before, after := base.Fields(), g.Fields()
	var found []string
	for _, name := range comparison.SortedFields(after) {
		if string(before[name]) != string(after[name]) {
			found = append(found, name+" "+strings.Trim(string(after[name]), `"`))
		}
	}
	return strings.Join(found, ", ")
}

// explained adds a paragraph for each cell of the tables that is lower than the paper's, and the other notes on cells of the paper.
func (e *evidence) explained(t *text) {
	type place struct {
		key  string
		text []string
	}
	var places []place
	measured := false
	for _, n := range e.mainNumbers() {
		measured = measured || n.verdict() != missing
		key := n.cell.Key()
		if n.verdict() != lower && (e.notes[key] == "" || n.verdict() == missing) {
			continue
		}
		text := fmt.Sprintf("%s %s against %s (%s, %.1f standard errors)", n.metric.Name, three(n.ours.Mean), three(n.paper), signed(n.difference()), math.Abs(n.difference())/n.standardError())
		if i := slices.IndexFunc(places, func(p place) bool { return p.key == key }); i >= 0 {
			places[i].text = append(places[i].text, text)
		} else {
			places = append(places, place{key, []string{text}})
		}
	}
	shown := map[string]bool{}
	t.say("## Where ours differs")
	switch {
	case !measured:
		t.say("No number of the main tables is measured yet.")
	case len(places) == 0:
		t.say("No number that is measured is lower than the paper's by more than one standard error.")
	}
	for _, p := range places {
		shown[p.key] = true
		note := e.notes[p.key]
		if note == "" {
			note = fmt.Sprintf("**Not explained**: a section `## %s` of [notes.md](notes.md) has to say what was tried.", p.key)
		}
		t.say("**`%s`**: %s. %s", p.key, strings.Join(p.text, "; "), note)
	}
	for _, key := range slices.Sorted(maps.Keys(e.notes)) {
		if c := e.cells[key]; !shown[key] && !slices.Contains(e.trials, key) && (c == nil || e.ofPaper(c)) && e.notes[key] != "" {
			t.say("**`%s`**: %s", key, e.notes[key])
		}
	}
}

// measured adds how the numbers were computed, and on which machines.
func (e *evidence) measured(t *text) {
	t.say("## How it was measured")
	t.say("The standard error that decides between ≈ and ▼ combines two: that of the mean over our seeds, and that of the test queries, as if they were drawn independently (of 376 queries, WN18RR_v1's, a Hits@10 of .816 has one of .020). The paper's models answered the same queries, so the second is a generous bound; both are in [the table of every cell](#every-cell). The paper gives means of 5 runs without their spread.")
	t.say("\"Messages saved\" is the share of NBFNet's messages that a model does not send, over the distinct queries of the test split. NBFNet sends one message along each edge in each layer, inverse edges included. Processor time is that of one training with its validations; trainings ran side by side, so their wall-clock time says less.")
	machines, commits := map[string]int{}, map[string]int{}
	for _, c := range e.cells {
		for _, r := range c.Results {
			m := r.Machine
			name := fmt.Sprintf("%s, %d cores, %s/%s, kernels %s", m.Processor, m.Cores, m.OS, m.Arch, strings.Join(r.Kernels, " and "))
			if m.Device != "" {
				name = m.Device + " with " + name
			}
			machines[name]++
			commit := "`" + r.Commit[:min(len(r.Commit), 10)] + "`"
			if r.Commit == "" {
				commit = "an unknown commit"
			}
			if r.Modified {
				commit += " with changes"
			}
			commits[commit]++
		}
	}
	for _, list := range []struct {
		what  string
		count map[string]int
	}{{"Trained on", machines}, {"Trained by", commits}} {
		var words []string
		for _, name := range slices.Sorted(maps.Keys(list.count)) {
			words = append(words, fmt.Sprintf("%s (%d)", name, list.count[name]))
		}
		if len(words) > 0 {
			t.say("%s: %s.", list.what, strings.Join(words, "; "))
		}
	}
}

// everyCell adds all numbers of the main tables and of the ablation, with what they took and the command of each.
func (e *evidence) everyCell(t *text) {
	t.say("## Every cell")
	t.say("SE: standard error, of the mean over seeds and of the test queries. A command with `--verify` trains the first seed again and compares every metric to the last digit, which needs the same kernel variant; one without makes what is missing. [What the commands need](README.md).")
	var list []number
	for _, dataset := range slices.Concat(transductive, inductive) {
		for _, m := range e.published.Methods {
			list = append(list, e.numbers(m, []string{dataset})...)
		}
		if ablation, ok := e.published.DegreeMessages.With[dataset]["hits@10"]; ok {
			c := e.cell(dataset, "specific-degree")
			if name := "specific, with degree messages"; c.configuration.DegreeMessages {
				list = append(list, newNumber(c, name, comparison.Hits10, ablation))
			} else {
				list = append(list, newNumber(c, "specific, without degree messages", comparison.Hits10, e.published.DegreeMessages.Without[dataset]["hits@10"]))
			}
		}
	}
	var rows [][]string
	var last string
	for _, n := range list {
		c := n.cell
		row := []string{"", "", n.metric.Name, plus(n.ours), three(n.paper), "–", "–", "–", "", "", "", "", ""}
		if n.ours.N > 0 {
			row[5], row[6], row[7] = signed(n.difference())+" "+n.verdict().sign(), three(n.ofSeeds), three(n.ofQueries)
		}
		if c.Key() != last {
			row[0], row[1], row[12] = fmt.Sprintf("%s, %s", c.Dataset, n.method), c.seedsDone(), e.command(c)
			if len(c.Results) > 0 {
				row[8], row[9], row[10], row[11] = percent(1-c.Sent(results.TestProtocol).Mean), epochs(c.Group), duration(c.CPUSeconds()), duration(c.Seconds())
			}
		}
		last = c.Key()
		rows = append(rows, row)
	}
	t.table([]string{"", "seeds", "", "ours", "paper", "difference", "SE, seeds", "SE, queries", "messages saved", "epochs", "processor time", "time", "repeat"}, rows)
}

// epochs returns the numbers of epochs of a group's trainings, which agree unless a result is stale.
func epochs(g comparison.Group) string {
	var numbers []string
	for _, r := range g.Results {
		numbers = append(numbers, fmt.Sprint(r.Training.Epochs))
	}
	slices.Sort(numbers)
	return strings.Join(slices.Compact(numbers), ", ")
}
