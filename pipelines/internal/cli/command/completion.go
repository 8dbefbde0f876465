package command

import (
	"embed"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"tagnet/formats/names"
)

// shells are those for which there is a script, which asks this program for each completion, so that
// it fits any version.
var shells = []string{"bash", "zsh", "fish"}

//go:embed completion
var scripts embed.FS

// completion prints the script of a shell or, for a script, what can stand for the last of the words after
// the program's name.
func (t Together) completion(words string, arguments []string, out, stderr io.Writer) int {
	switch {
	case len(arguments) > 0 && arguments[0] == "words":
		for _, line := range t.Complete(arguments[1:]) {
			fmt.Fprintln(out, line)
		}
		return ExitOK
	case len(arguments) == 1 && slices.Contains(shells, arguments[0]):
		script, err := scripts.ReadFile("completion/tagnet." + arguments[0])
		if err != nil {
			fmt.Fprintln(stderr, OneLine(err))
			return ExitFailure
		}
		_, _ = out.Write(script)
		return ExitOK
	case len(arguments) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, arguments[0]):
		fmt.Fprintf(out, completionHelp, words)
		return ExitOK
	}
	fmt.Fprintf(stderr, "%s: want one of %s, not %s; -h says how to use them\n", words, strings.Join(shells, ", "), names.Escape(fmt.Sprintf("%q", arguments)))
	return ExitUsage
}

const completionHelp = `Prints a script that completes commands, flags, their values and files with the Tab key, for a program named tagnet on the PATH.

usage: %s bash|zsh|fish

  bash   source <(tagnet completion bash), in ~/.bashrc
  zsh    source <(tagnet completion zsh), in ~/.zshrc after compinit
  fish   tagnet completion fish > ~/.config/fish/completions/tagnet.fish
`

// What a script completes itself.
const (
	files   = ":files"
	folders = ":folders"
)

// Complete returns the lines that a script reads: texts that can stand for the last word, each with a tab and what it
// means, files or folders.
func (t Together) Complete(words []string) []string {
	words = joined(words)
	last := len(words) - 1
	if last <= 0 || words[0] == "help" && last == 1 {
		return beginning(t.commands(), words)
	}
	set, argument := t.parameters(words[0])
	if set == nil {
		return nil
	}
	if name, value, found := strings.Cut(words[last], "="); found && strings.HasPrefix(name, "-") {
		return values(set.Lookup(strings.TrimLeft(name, "-")), value)
	}
	if before := set.Lookup(strings.TrimLeft(words[last-1], "-")); last > 1 && strings.HasPrefix(words[last-1], "-") && before != nil && !isBool(before) {
		return values(before, words[last])
	}
	if argument != "" && !strings.HasPrefix(words[last], "-") {
		return alternatives(argument, words[last])
	}
	return beginning(flagLines(set), words)
}

// joined returns words with those put together again that bash divides at equals signs. There is at
// least one, the last.
func joined(words []string) []string {
	var whole []string
	for i, word := range words {
		after := i > 0 && words[i-1] == "=" && len(whole) > 0 && strings.HasPrefix(whole[len(whole)-1], "-")
		if n := len(whole); n > 0 && (after || word == "=" && strings.HasPrefix(whole[n-1], "-")) {
			whole[n-1] += word
		} else {
			whole = append(whole, word)
		}
	}
	if len(whole) == 0 {
		whole = []string{""}
	}
	return whole
}

// beginning returns the lines that begin with the last word.
func beginning(lines, words []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, words[len(words)-1]) })
}

func (t Together) commands() []string {
	var lines []string
	for _, c := range t.Commands {
		lines = append(lines, c.Pipeline.Name+"\t"+c.Does)
	}
	for _, o := range t.others() {
		lines = append(lines, o.Name+"\t"+o.Does)
	}
	return append(lines, "help\texplains a command")
}

// parameters returns the flags of a command, and the kind of its argument; nil for a command that does not exist.
func (t Together) parameters(name string) (set *flag.FlagSet, argument string) {
	for _, c := range t.Commands {
		if c.Pipeline.Name == name {
			return c.Pipeline.OwnFlags(), ""
		}
	}
	for _, o := range t.others() {
		switch {
		case o.Name == name && o.Flags != nil:
			return o.Flags(), o.Argument
		case o.Name == name:
			return flag.NewFlagSet(name, flag.ContinueOnError), o.Argument
		}
	}
	return nil, ""
}

// flagLines returns a line for each flag, with the first clause of what it means.
func flagLines(set *flag.FlagSet) []string {
	var lines []string
	set.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		usage, _, _ = strings.Cut(strings.TrimPrefix(strings.Join(strings.Fields(usage), " "), kind+": "), ";")
		lines = append(lines, "--"+f.Name+"\t"+usage)
	})
	return lines
}

func isBool(f *flag.Flag) bool {
	value, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag()
}

// values returns the lines for the value of a flag, none if it is nil.
func values(f *flag.Flag, begin string) []string {
	if f == nil {
		return nil
	}
	kind, _ := flag.UnquoteUsage(f)
	if isBool(f) {
		kind = "true|false"
	}
	return alternatives(kind, begin)
}

// alternatives returns the lines for a value of a kind, such as zero|file: what stands for another text, as file and
// FILE.json do, is no value itself.
func alternatives(kind, begin string) []string {
	var lines []string
	for alternative := range strings.SplitSeq(kind, "|") {
		switch {
		case alternative == "file" || alternative == "path" || strings.HasPrefix(alternative, "FILE"):
			lines = append(lines, files)
		case alternative == "folder":
			lines = append(lines, folders)
		case !strings.Contains(kind, "|") || alternative == "name" || strings.Contains(alternative, ":") || strings.ToLower(alternative) != alternative:
		case strings.HasPrefix(alternative, begin):
			lines = append(lines, alternative)
		}
	}
	if slices.Contains(lines, files) { // which have folders among them
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == folders })
	}
	return lines
}
