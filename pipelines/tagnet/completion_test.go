package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// inShell runs a script in a shell for which tagnet is a program on the PATH, in a folder with a file and a folder, and
// returns the lines that it prints.
func inShell(t *testing.T, shell, script string, arguments ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed", shell)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs, folder := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(programs, "tagnet")); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, filepath.Join(folder, "two words.txt"), "")
	if err := os.Mkdir(filepath.Join(folder, "twofold"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), shell, append(arguments, "-c", script)...)
	c.Dir = folder
	c.Env = append(os.Environ(), asTagnet+"=1", "HOME="+folder, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%s: %v: %s", shell, err, said.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// completed are command lines, by the words after the program's name, and what completes the last word of each.
var completed = []struct {
	words []string
	want  []string
}{
	{[]string{"tr"}, []string{"train"}},
	{[]string{"help", "di"}, []string{"discover", "distances"}},
	{[]string{"ask", "--exp"}, []string{"--explain"}},
	{[]string{"discover", "--explain", "--cand"}, []string{"--candidates"}},
	{[]string{"distances", "--split", ""}, []string{"test", "train", "valid"}},
	{[]string{"train", "--message", "r"}, []string{"rotate"}},
	{[]string{"train", "--kernel", "av"}, []string{"avx2", "avx512"}},
	{[]string{"score", "--model", "z"}, []string{"zero"}},
	{[]string{"completion", ""}, []string{"bash", "fish", "zsh"}},
	{[]string{"train", "--dim", ""}, nil},
	{[]string{"no-command", ""}, nil},
	{[]string{"score", "--worker"}, nil}, // no worker starts
	{[]string{"preprocess", "--types", "two"}, []string{"two words.txt", "twofold"}},
	{[]string{"preprocess", "--workspace", "two"}, []string{"twofold"}},
}

// compare compares what a shell completes with what is wanted, in any order. Shells may end a folder in a slash, and
// put a backslash before a space.
func compare(t *testing.T, words, got, want []string) {
	t.Helper()
	var clean []string
	for _, line := range got {
		line, _, _ = strings.Cut(line, "\t")
		if line = strings.TrimSuffix(strings.ReplaceAll(line, `\ `, " "), "/"); line != "" {
			clean = append(clean, line)
		}
	}
	slices.Sort(clean)
	if diff := cmp.Diff(want, clean); diff != "" {
		t.Errorf("%q (-want +got):\n%s", words, diff)
	}
}

// quoted returns words for a shell.
func quoted(words []string) string { return "'" + strings.Join(words, "' '") + "'" }

func TestBash(t *testing.T) {
	t.Parallel()
	// Bash divides a word at equals signs.
	divided := []struct{ words, want []string }{
		{[]string{"distances", "--split", "=", "v"}, []string{"valid"}},
		{[]string{"distances", "--split", "="}, []string{"test", "train", "valid"}},
		{[]string{"preprocess", "--inference_only", "=", "f"}, []string{"false"}},
	}
	tests := append(slices.Clone(completed), divided...)
	script := "source <(tagnet completion bash); complete -p tagnet >/dev/null || exit 1\n"
	for _, test := range tests {
		script += `COMP_WORDS=(tagnet ` + quoted(test.words) + `) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tagnet; printf '%s\n' "${COMPREPLY[@]}" "<end>"` +
			"\n"
	}
	lines := inShell(t, "bash", script, "--norc")
	for _, test := range tests {
		end := slices.Index(lines, "<end>")
		if end < 0 {
			t.Fatalf("%q: no end in %q", test.words, lines)
		}
		compare(t, test.words, lines[:end], test.want)
		lines = lines[end+1:]
	}
}

// TestZsh calls the function of the script with functions in the place of those of zsh's completion,
// which need a terminal.
func TestZsh(t *testing.T) {
	t.Parallel()
	for _, test := range append(slices.Clone(completed), struct{ words, want []string }{[]string{"distances", "--split=v"}, []string{"valid"}}) {
		got := inShell(t, "zsh", `
			compdef() { registered=$2 }
			compset() { true }
			_describe() { local line; for line in "${(@P)${@[-1]}}"; do print -r -- "${line%%:*}"; done }
			_files() { local begin=$words[CURRENT]; if [[ $1 == -/ ]]; then print -l -- $begin*(N/); else print -l -- $begin*(N); fi }
			source <(tagnet completion zsh)
			[[ $registered == tagnet ]] || exit 1
			words=(tagnet `+quoted(test.words)+`) CURRENT=$#words
			_tagnet`, "-f")
		compare(t, test.words, got, test.want)
	}
}

func TestFish(t *testing.T) {
	t.Parallel()
	for _, test := range append(slices.Clone(completed), struct{ words, want []string }{[]string{"distances", "--split=v"}, []string{"--split=valid"}}) {
		line := strings.Join(append([]string{"tagnet"}, test.words...), " ")
		compare(t, test.words, inShell(t, "fish", `tagnet completion fish | source; complete -C '`+line+`'`, "--no-config"), test.want)
	}
}

// TestCompletedValuesAreThoseThatAreValid sets each flag to each of the values that are completed and, where nothing
// else is a value, to another.
func TestCompletedValuesAreThoseThatAreValid(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, c := range tagnet.Commands {
		p := c.Pipeline
		p.OwnFlags().VisitAll(func(f *flag.Flag) {
			kind, _ := flag.UnquoteUsage(f)
			choices := strings.Split(kind, "|")
			if len(choices) == 1 {
				return
			}
			var lines bytes.Buffer
			open := false
			words := tagnet.Complete([]string{p.Name, "--" + f.Name, ""})
			for _, choice := range choices {
				if !slices.Contains(words, choice) {
					open = true
					continue
				}
				checked++
				if err := p.OwnFlags().Set(f.Name, choice); err != nil {
					t.Errorf("%s --%s %s: %v", p.Name, f.Name, choice, err)
				}
			}
			if _, known := configuration.FieldNamed(f.Name); open || known && p.Name == "train" { // their usages are made from what they validate
				return
			}
			code := command.Run(context.Background(), p, []string{"--workspace", t.TempDir(), "--" + f.Name, "no-such-value"}, &lines, &lines)
			if code != command.ExitUsage || !strings.Contains(lines.String(), "--"+f.Name) {
				t.Errorf("%s --%s no-such-value: exit code %d, %s", p.Name, f.Name, code, lines.String())
			}
		})
	}
	if checked < 40 {
		t.Errorf("%d values are completed, want more", checked)
	}
}

func TestScriptsOfOtherShells(t *testing.T) {
	t.Parallel()
	c := start(t, "completion", "tcsh")
	output, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != command.ExitUsage || !strings.Contains(string(output), "want one of bash, zsh, fish") {
		t.Errorf("exit code %d, %s", code, output)
	}
}
