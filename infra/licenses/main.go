// Licenses writes THIRD_PARTY_LICENSES, the licenses and notices of everything that a release links, or checks that the
// file is current. A license that is not in allowed is an error. It runs go-licenses, which make licenses builds.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tagnet/infra/internal/program"
)

// allowed are the licenses, by their SPDX names, under which a program may be given away with its own license kept. The
// last two stand, with those of other authors, in the LICENSE of Arrow and of Thrift.
var allowed = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "MIT", "NCSA", "OpenSSL", "Zlib",
	"LicenseRef-C-Ares", "GNU-All-permissive-Copying-License",
}

// platforms lists the targets of a release, as .goreleaser.yaml does.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// programs returns the main packages that are released for a platform.
func programs(platform string) []string {
	if strings.HasPrefix(platform, "linux/") {
		return []string{"./pipelines/tagnet", "./infra/worker", "./infra/worker/boot"}
	}
	return []string{"./pipelines/tagnet"}
}

const head = `The programs of tagnet contain the software below, under these licenses. Equal texts stand once.
make licenses wrote this file.
`

func main() { os.Exit(program.Run("licenses", "interrupted", run)) }

func run(_ context.Context, arguments []string, _, diagnostics io.Writer) error {
	set := flag.NewFlagSet("licenses", flag.ContinueOnError)
	tool := set.String("tool", "go-licenses", "`program`: go-licenses")
	file := set.String("file", "THIRD_PARTY_LICENSES", "`file` to write")
	check := set.Bool("check", false, "fail if the file differs, and write nothing")
	if err := program.Parse(set, "Writes the licenses and notices of everything that a release links.", arguments, diagnostics); err != nil {
		return err
	}
	return write(*tool, *file, *check)
}

func write(tool, file string, check bool) error {
	module, err := output("go", "list", "-m")
	if err != nil {
		return err
	}
	t := texts{}
	for _, platform := range platforms {
		linked, err := report(tool, platform, module)
		if err != nil {
			return err
		}
		for _, l := range linked {
			if err := t.read(l); err != nil {
				return err
			}
		}
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("reading Go's own license: %w", err)
	}
	t.add("the Go standard library and runtime", license)
	want := t.bytes()
	if !check {
		return os.WriteFile(file, want, 0o644)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w; make licenses writes it", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not current: run make licenses and commit it", file)
	}
	return nil
}

// library is a module, or a part of one, with a license of its own.
type library struct{ name, license string } // license is a file

// report returns what the programs of a platform link. A license that is not allowed, or none, is an error. The
// module's own packages are left out, with infra/overflow, which replaces a dependency.
func report(tool, platform, module string) ([]library, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	template, err := os.CreateTemp("", "licenses")
	if err != nil {
		return nil, err
	}
	defer os.Remove(template.Name())
	_, err = template.WriteString("{{range .}}{{.Name}}\t{{.LicensePath}}\t{{.LicenseName}}\n{{end}}")
	if err := errors.Join(err, template.Close()); err != nil {
		return nil, err
	}
	arguments := []string{"report", "--template", template.Name(), "--ignore", module, "--ignore", "github.com/JohnCGriffin/overflow"}
	c := exec.Command(tool, append(arguments, programs(platform)...)...)
	// A report has the address of each license, too, for which it would ask each module's host.
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0", "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1")
	var warnings bytes.Buffer
	c.Stderr = &warnings
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go-licenses for %s: %w\n%s", platform, err, withoutWarnings(warnings.Bytes()))
	}
	var found []library
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("go-licenses for %s: unexpected line %q", platform, line)
		}
		if !slices.Contains(allowed, fields[2]) {
			return nil, fmt.Errorf("%s, which is linked on %s, has the license %s: not among the allowed %s", fields[0], platform, fields[2],
				strings.Join(allowed, ", "))
		}
		found = append(found, library{fields[0], fields[1]})
	}
	return found, nil
}

// withoutWarnings leaves out go-licenses's warnings, of assembly and headers that it does not follow.
func withoutWarnings(out []byte) string {
	var kept []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "W") && !filepath.IsAbs(strings.TrimSpace(line)) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// texts are licenses and notices, each with the names of what it is for.
type texts map[string][]string

// notice matches the files that stand beside a license and have to be kept with it.
var notice = regexp.MustCompile(`^(?i)(notice|patents)(\..*)?$`)

// read adds the license of a library, and the notices beside it.
func (t texts) read(l library) error {
	folder := filepath.Dir(l.license)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the license of %s: %w", l.name, err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != filepath.Base(l.license) && !notice.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("reading the license of %s: %w", l.name, err)
		}
		t.add(l.name, text)
	}
	return nil
}

func (t texts) add(name string, text []byte) {
	key := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")) + "\n"
	if !slices.Contains(t[key], name) {
		t[key] = append(t[key], name)
	}
}

// bytes returns the file, in the order of the first name of each text.
func (t texts) bytes() []byte {
	keys := make([]string, 0, len(t))
	for key, names := range t {
		slices.Sort(names)
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return strings.Compare(t[a][0]+"\n"+a, t[b][0]+"\n"+b)
	})
	var b bytes.Buffer
	b.WriteString(head)
	for _, key := range keys {
		fmt.Fprintf(&b, "\n%s\n\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(t[key], "\n"), key)
	}
	return b.Bytes()
}

// output returns what a program prints.
func output(name string, arguments ...string) (string, error) {
	out, err := exec.Command(name, arguments...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
