package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// endings lists the calls that end the process.
var endings = map[string]bool{
	"os.Exit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true,
	"log.Panic": true, "log.Panicf": true, "log.Panicln": true, "syscall.Exit": true,
}

func TestOnlyMainsEndTheProcess(t *testing.T) {
	for _, p := range packages(t) {
		if p.Name == "main" || p.below() == "pipelines/internal/cli/command" {
			continue
		}
		for _, s := range p.sources(t) {
			for _, call := range processEndings(s) {
				t.Errorf("%s: return an error to the caller instead", call)
			}
		}
	}
}

// processEndings returns the calls of a file that end the process, with their positions.
func processEndings(s source) []string {
	var found []string
	ast.Inspect(s.file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if owner, ok := selector.X.(*ast.Ident); ok && endings[owner.Name+"."+selector.Sel.Name] {
			found = append(found, fmt.Sprintf("%s: %s.%s", s.at(selector), owner.Name, selector.Sel.Name))
		}
		return true
	})
	return found
}

// flagPattern matches a flag of a command, as --epochs. The flags of riot, as --output=ntriples, and the colors of a
// style, as var(--ink), are none.
var flagPattern = regexp.MustCompile(`(^|[^(\w-]|[^r]\()--[a-z][a-z_]*([^a-z_=]|$)`)

// TestOnlyPipelinesWritesFlags holds that stages, model and formats make flags by remedy.Flag. The table of
// hyperparameters, from which flags are made, has help that names others.
func TestOnlyPipelinesWritesFlags(t *testing.T) {
	for _, p := range packages(t) {
		if layer := p.layer(); layer != "formats" && layer != "model" && layer != "stages" {
			continue
		}
		for _, s := range p.sources(t) {
			if s.path == "model/weights/configuration/hyperparameters.go" {
				continue
			}
			for _, text := range literalFlags(s) {
				t.Errorf("%s: make flags by remedy.Flag", text)
			}
		}
	}
}

// literalFlags returns the texts of a file that have the flag of a command.
func literalFlags(s source) []string {
	var found []string
	ast.Inspect(s.file, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING && flagPattern.MatchString(text.Value) {
			found = append(found, s.at(text))
		}
		return true
	})
	return found
}

func TestPackagesHaveComments(t *testing.T) {
	for _, p := range packages(t) {
		sources := p.sources(t)
		if len(sources) == 0 {
			continue // tests only
		}
		found := false
		for _, s := range sources {
			if s.file.Doc == nil {
				continue
			}
			base := filepath.Base(s.path)
			if p.Name == "main" {
				found = true
				continue
			}
			if base != "doc.go" && len(sources) > 1 {
				t.Errorf("%s: the package comment belongs in doc.go", s.path)
				continue
			}
			found = true
			if !strings.HasPrefix(s.file.Doc.Text(), "Package "+p.Name+" ") {
				t.Errorf("%s: the package comment begins %q, want \"Package %s ...\"", s.path, firstLine(s.file.Doc.Text()), p.Name)
			}
		}
		if !found {
			t.Errorf("%s has no package comment: describe its purpose in doc.go", p.below())
		}
	}
}

func TestExportedNamesHaveComments(t *testing.T) {
	for _, p := range packages(t) {
		if p.Name == "main" {
			continue
		}
		for _, s := range p.sources(t) {
			if ast.IsGenerated(s.file) {
				continue
			}
			for _, name := range unexplained(s) {
				t.Errorf("%s is exported and has no comment", name)
			}
		}
	}
}

// unexplained returns the exported names of a file that have no comment, with their positions. A
// comment on a group of constants or variables explains all of them. It includes the fields of types
// named Params or Configuration.
func unexplained(s source) []string {
	var found []string
	report := func(node ast.Node, name string) { found = append(found, s.at(node)+": "+name) }
	for _, declaration := range s.file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && ofExported(d) {
				report(d, d.Name.Name)
			}
		case *ast.GenDecl:
			grouped := d.Doc != nil || enumeration(d)
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if !spec.Name.IsExported() {
						continue
					}
					if d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						report(spec, spec.Name.Name)
					}
					if strings.HasSuffix(spec.Name.Name, "Params") || strings.HasSuffix(spec.Name.Name, "Configuration") {
						for _, field := range uncommentedFields(spec) {
							report(field, spec.Name.Name+"."+field.Name)
						}
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() && !grouped && spec.Doc == nil && spec.Comment == nil {
							report(name, name.Name)
						}
					}
				}
			}
		}
	}
	return found
}

// enumeration reports whether a group of constants enumerates a named type, whose own comment explains them.
func enumeration(d *ast.GenDecl) bool {
	if d.Tok != token.CONST || len(d.Specs) < 2 {
		return false
	}
	first, ok := d.Specs[0].(*ast.ValueSpec)
	return ok && first.Type != nil
}

// ofExported reports whether a function is not a method, or is a method of an exported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	kind := d.Recv.List[0].Type
	for {
		switch k := kind.(type) {
		case *ast.StarExpr:
			kind = k.X
		case *ast.IndexExpr:
			kind = k.X
		case *ast.IndexListExpr:
			kind = k.X
		case *ast.Ident:
			return k.IsExported()
		default:
			return false
		}
	}
}

// uncommentedFields returns the exported fields without an explanation: a comment of their own, one of
// the field before that mentions them, or the comment of a type of the same name.
func uncommentedFields(spec *ast.TypeSpec) []*ast.Ident {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	var found []*ast.Ident
	said := ""
	for _, field := range structure.Fields.List {
		if field.Doc != nil || field.Comment != nil {
			said = field.Doc.Text() + field.Comment.Text()
			continue
		}
		kind, named := field.Type.(*ast.Ident)
		for _, name := range field.Names {
			if name.IsExported() && !strings.Contains(said, name.Name) && !(named && kind.Name == name.Name) {
				found = append(found, name)
			}
		}
	}
	return found
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestRulesFindViolations runs the rules over a source that violates each of them.
func TestRulesFindViolations(t *testing.T) {
	const text = `package broken
import "os"
type Bare struct{}
// TrainParams are parameters.
type TrainParams struct {
	Seed int
	Rate float64 // per epoch, multiplied by Decay
	Decay float64
	Bare Bare
	Loss float64
}
var Loose int
// Fine ones.
const ( A = 1; B = 2 )
func Open() { os.Exit(3) }
func (b *Bare) Close() {}
func (s small[T]) Read() {}
type small[T any] struct{}
var _ = fmt.Errorf("no (--force)")
const reach = "--reach"
var _ = remedy.Do("%v; riot --output=ntriples", remedy.Flag("force")) // --force
var _ = " --" + "{fill:var(--ink)}"
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "broken.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := source{"broken.go", file, set}
	got := strings.Join(unexplained(s), " ")
	want := "broken.go:3: Bare broken.go:6: TrainParams.Seed broken.go:10: TrainParams.Loss broken.go:12: Loose broken.go:15: Open broken.go:16: Close"
	if got != want {
		t.Errorf("unexplained: got %s, want %s", got, want)
	}
	if calls := processEndings(s); len(calls) != 1 || calls[0] != "broken.go:15: os.Exit" {
		t.Errorf("endings: got %v", calls)
	}
	if texts := strings.Join(literalFlags(s), " "); texts != "broken.go:19 broken.go:20" {
		t.Errorf("written flags: got %s", texts)
	}
}
