package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// values are the parameters of a URL, each once.
type values url.Values

// parameters reads the parameters of a URL. An unknown or repeated one is an error: left out silently, it would be
// taken for one that has an effect.
func parameters(r *http.Request, known ...string) (values, error) {
	parsed, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("the parameters cannot be read: %v", err)
	}
	for name, all := range parsed {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return nil, invalid("%s %s takes no parameters, not %q", r.Method, r.URL.Path, name)
		case !slices.Contains(known, name):
			return nil, invalid("unknown parameter %q: %s takes %s", name, r.URL.Path, strings.Join(known, ", "))
		case len(all) > 1:
			return nil, invalid("%s stands %d times: want it once", name, len(all))
		}
	}
	return values(parsed), nil
}

// withoutParameters returns a handler of requests that take no parameters.
func withoutParameters(answer handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, err := parameters(r); err != nil {
			return err
		}
		return answer(w, r)
	}
}

// text returns the text of a parameter, or nil without it.
func (v values) text(name string) *string {
	if all := v[name]; len(all) > 0 {
		return &all[0]
	}
	return nil
}

// number returns the number of a parameter, or nil without it.
func (v values) number(name string) (*int, error) {
	text := v.text(name)
	if text == nil {
		return nil, nil
	}
	n, err := strconv.Atoi(*text)
	if err != nil {
		return nil, invalid("%s is %q: want a whole number", name, *text)
	}
	return &n, nil
}

// count returns the number of a parameter, from 1 to most, or the usual one without it.
func (v values) count(name string, usual, most int) (int, error) {
	n, err := v.number(name)
	if err != nil {
		return 0, err
	}
	return checkedCount(name, n, usual, most)
}

// page returns the parameters limit, from 1 to most, and offset, from 0.
func (v values) page(usual, most int) (limit, offset int, err error) {
	if limit, err = v.count("limit", usual, most); err != nil {
		return 0, 0, err
	}
	n, err := v.number("offset")
	switch {
	case err != nil:
		return 0, 0, err
	case n == nil:
		return limit, 0, nil
	case *n < 0:
		return 0, 0, invalid("offset is %d: want 0 or more", *n)
	}
	return limit, *n, nil
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
func (v values) flag(name string) (bool, error) {
	text := v.text(name)
	if text == nil {
		return false, nil
	}
	switch *text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid("%s is %q: want true or false", name, *text)
}
