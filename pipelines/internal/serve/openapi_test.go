package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openAPI is the part of an OpenAPI description that the tests compare with the handlers.
type openAPI struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	Parameters  []struct{ Name string }
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]struct{ Content map[string]media }
}

type media struct{ Schema *schema }

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Nullable             bool
	Required             []string
	Properties           map[string]*schema
	Items                *schema
	OneOf                []*schema
	AdditionalProperties *bool
}

func described(t testing.TB) openAPI {
	t.Helper()
	var d openAPI
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check returns what is wrong with a value, at a path within the response.
func (d openAPI) check(s *schema, value any, at string) []string {
	if s.Ref != "" {
		return d.check(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], value, at)
	}
	if len(s.OneOf) > 0 {
		var wrong []string
		for _, one := range s.OneOf {
			problems := d.check(one, value, at)
			if len(problems) == 0 {
				return nil
			}
			wrong = append(wrong, problems...)
		}
		return wrong
	}
	if value == nil {
		if s.Nullable {
			return nil
		}
		return []string{at + " is null"}
	}
	want := map[string]string{"object": "map[string]interface {}", "array": "[]interface {}", "string": "string", "number": "float64", "integer": "float64",
		"boolean": "bool"}[s.Type]
	if got := fmt.Sprintf("%T", value); got != want {
		return []string{fmt.Sprintf("%s is a %s, want a %s", at, got, s.Type)}
	}
	var wrong []string
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := value[name]; !ok {
				wrong = append(wrong, at+" lacks "+name)
			}
		}
		for name, field := range value {
			if of := s.Properties[name]; of != nil {
				wrong = append(wrong, d.check(of, field, at+"."+name)...)
			} else if s.AdditionalProperties != nil && !*s.AdditionalProperties {
				wrong = append(wrong, at+"."+name+" is not described")
			}
		}
	case []any:
		for i, item := range value {
			wrong = append(wrong, d.check(s.Items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return wrong
}

// TestDescriptionHasTheRoutes compares the paths and methods of openapi.json with those that are served.
func TestDescriptionHasTheRoutes(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	var want, got []string
	for path, operations := range described(t).Paths {
		for method, of := range operations {
			want = append(want, strings.ToUpper(method)+" "+path)
			if _, ok := of.Responses["403"]; !ok {
				t.Errorf("%s %s: the response to another site is not described", method, path)
			}
		}
	}
	for path, methods := range s.routes {
		for method := range methods {
			got = append(got, method+" "+path)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-openapi.json +served):\n%s", diff)
	}
}

// TestDescriptionHasTheResponses compares responses with their schemas, and the parameters that are described with
// those that a path takes.
func TestDescriptionHasTheResponses(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	d, asked := described(t), map[string]bool{"get /report": true} // TestReport has its responses
	for _, test := range []struct{ method, path, body string }{
		{"GET", "/", ""},
		{"GET", "/page.css", ""},
		{"GET", "/page.js", ""},
		{"GET", "/facts.js", ""},
		{"GET", "/list.js", ""},
		{"GET", "/list?judged=true&sort=head", ""},
		{"GET", "/list?format=nt", ""},
		{"GET", "/list?format=xml", ""},
		{"GET", "/verdicts", ""},
		{"POST", "/verdicts", `{"head":"Person 01","relation":"knows","tail":"Person 05","verdict":"true"}`},
		{"GET", ask("Person 01", "knows", "format", "csv"), ""},
		{"GET", ask("Person 01", "knows", "format", "tsv"), ""},
		{"GET", "/entity?entity=Person+01&neighbors=2&limit=3&offset=1", ""},
		{"GET", "/entity?entity=nobody", ""},
		{"GET", "/entity?entity=Person+01&limit=0", ""},
		{"GET", "/facts?entity=Person+01&relation=~knows&limit=2", ""},
		{"GET", "/facts?entity=Person+01&relation=nothing", ""},
		{"GET", "/facts", ""},
		{"GET", ask("Person 01", "knows", "k", "1000"), ""},
		{"GET", ask("Person 01", "knows", "k", "0"), ""},
		{"GET", ask("person 01", "knows"), ""},
		{"POST", "/answer", `{"source":"Person 01","relation":"knows","k":3,"known":true}`},
		{"POST", "/answer", `{"queries":[{"source":"Person 01","relation":"~knows"}]}`},
		{"POST", "/answer", `{}`},
		{"POST", "/answer", `{"queries":[{"source":"?","relation":"~knows"}]}`},
		{"POST", "/answer", `{"source":"` + strings.Repeat("x", mostBody) + `"}`},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+02&walks=true&drawing=true", ""},
		{"GET", "/explain?source=Person+01&relation=knows&answer=Person+01", ""},
		{"GET", "/explain", ""},
		{"GET", "/score?head=Person+01&relation=knows&tail=Person+02", ""},
		{"GET", "/score?head=Person+01&tail=Person+20&k=1", ""},
		{"GET", "/score?head=Person+01&tail=nobody", ""},
		{"GET", "/score", ""},
		{"POST", "/pattern", `{"pattern":"knows(?x, ?y), not knows(?y, \"Person 03\"), knows(?z, \"Person 05\"), knows(?y, ?z)","stated":true,"k":3}`},
		{"POST", "/pattern", `{"pattern":"knows(?x, nobody)"}`},
		{"POST", "/pattern", `{"pattern":"knows(?x"}`},
		{"GET", "/entities?prefix=p&count=3", ""},
		{"GET", "/entities?contains=rson&count=3", ""},
		{"GET", "/entities?count=0", ""},
		{"GET", "/relations", ""},
		{"GET", "/relations?entity=Person+01", ""},
		{"GET", "/relations?entity=nobody", ""},
		{"GET", "/types", ""},
		{"GET", ask("Person 01", "knows", "candidates", "type:Drug"), ""},
		{"GET", "/healthz", ""},
		{"POST", "/reload", ""},
		{"GET", "/metrics", ""},
		{"GET", "/openapi.json", ""},
	} {
		path, _, _ := strings.Cut(test.path, "?")
		got := send(t, test.method, address+test.path, test.body)
		asked[strings.ToLower(test.method)+" "+path] = true
		response, ok := d.Paths[path][strings.ToLower(test.method)].Responses[fmt.Sprint(got.status)]
		if !ok {
			t.Errorf("%s %s: status %d is not described", test.method, test.path, got.status)
			continue
		}
		kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		body, ok := response.Content[kind]
		if !ok {
			t.Errorf("%s %s: type %s is not described", test.method, test.path, kind)
			continue
		}
		if kind != "application/json" {
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(got.text), &value); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range d.check(body.Schema, value, "the response") {
			t.Errorf("%s %.80s: %s", test.method, test.path, wrong)
		}
	}
	for path, operations := range d.Paths {
		for method := range operations {
			if !asked[method+" "+path] {
				t.Errorf("%s %s: there is no request of it here", method, path)
			}
		}
		of, ok := operations["get"]
		if !ok || slices.Contains([]string{"/", "/page.css", "/page.js", "/facts.js", "/list.js"}, path) { // the page, whose parameters are read by its script
			continue
		}
		got := send(t, "GET", address+path+"?invented=1", "")
		list := "takes no parameters"
		if len(of.Parameters) > 0 {
			var known []string
			for _, p := range of.Parameters {
				known = append(known, p.Name)
			}
			list = "takes " + strings.Join(known, ", ")
		}
		if f := read[failure](t, got); !strings.HasSuffix(strings.TrimSuffix(f.Text, `, not "invented"`), list) {
			t.Errorf("%s: the parameters that are described differ: want %q in %q", path, list, f.Text)
		}
	}
	fields := slices.Sorted(maps.Keys(d.Components.Schemas["Request"].Properties))
	if diff := cmp.Diff([]string{"candidates", "k", "known", "queries", "relation", "source"}, fields); diff != "" {
		t.Errorf("fields of a request (-want +described):\n%s", diff)
	}
}
