package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// values are the parameters of a URL, each once.
type values struct {
	of  url.Values
	err error // the first mistake in them
}

// parameters reads the parameters of a URL. An unknown or repeated one is an error: left out silently, it would be
// taken for one that has an effect.
func parameters(r *http.Request, known ...string) *values {
	parsed, err := url.ParseQuery(r.URL.RawQuery)
	v := &values{of: parsed}
	if err != nil {
		v.fail("the parameters cannot be read: %v", err)
	}
	for name, all := range parsed {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			v.fail("%s %s takes no parameters, not %q", r.Method, r.URL.Path, name)
		case !slices.Contains(known, name):
			v.fail("unknown parameter %q: %s takes %s", name, r.URL.Path, strings.Join(known, ", "))
		case len(all) > 1:
			v.fail("%s stands %d times: want it once", name, len(all))
		}
	}
	return v
}

// fail keeps a mistake, unless there was one before.
func (v *values) fail(format string, arguments ...any) {
	if v.err == nil {
		v.err = invalid(format, arguments...)
	}
}

// withoutParameters returns a handler of requests that take no parameters.
func withoutParameters(answer handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := parameters(r).err; err != nil {
			return err
		}
		return answer(w, r)
	}
}

// text returns the text of a parameter, or nil without it.
func (v *values) text(name string) *string {
	if all := v.of[name]; len(all) > 0 {
		return &all[0]
	}
	return nil
}

// What a parameter is that a request needs.
const (
	entityName   = "the name of an entity"
	relationName = "the name of a relation, with a leading ~ for the inverse one"
)

// missing returns the failure of a request without something that it needs.
func missing(name, want string) *failure { return invalid("%s is missing: want %s", name, want) }

// needed returns the text of a parameter that has to be there.
func (v *values) needed(name, want string) string {
	text := v.text(name)
	if text == nil {
		v.err = cmp.Or(v.err, error(missing(name, want)))
		return ""
	}
	return *text
}

// number returns the number of a parameter, or nil without it.
func (v *values) number(name string) *int {
	text := v.text(name)
	if text == nil {
		return nil
	}
	n, err := strconv.Atoi(*text)
	if err != nil {
		v.fail("%s is %q: want a whole number", name, *text)
		return nil
	}
	return &n
}

// count returns the number of a parameter, from 1 to most, or the usual one without it.
func (v *values) count(name string, usual, most int) int {
	n, err := checkedCount(name, v.number(name), usual, most)
	v.err = cmp.Or(v.err, err)
	return n
}

// page returns the parameters limit, from 1 to most, and offset, from 0.
func (v *values) page(usual, most int) (limit, offset int) {
	limit = v.count("limit", usual, most)
	offset = *cmp.Or(v.number("offset"), new(int))
	if offset < 0 {
		v.fail("offset is %d: want 0 or more", offset)
	}
	return limit, offset
}

// checkedCount returns a number from 1 to most, or the usual one without it.
func checkedCount(name string, n *int, usual, most int) (int, error) {
	switch {
	case n == nil:
		return usual, nil
	case *n < 1 || *n > most:
		return 0, invalid("%s is %d: want 1 to %d", name, *n, most)
	}
	return *n, nil
}

// flag returns the value of a parameter that is true or false, false without it.
func (v *values) flag(name string) bool {
	text := v.text(name)
	if text != nil && *text != "true" && *text != "false" {
		v.fail("%s is %q: want true or false", name, *text)
	}
	return text != nil && *text == "true"
}
