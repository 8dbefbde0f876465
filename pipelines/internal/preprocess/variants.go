package preprocess

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
)

// mostVariants is the number of odd names that are compared with the others.
const mostVariants = 1 << 20

// variants warns of names that are others but for what programs add without notice: spaces around them, quotes, the
// ".0" of a number that was read as a float, or how accents are encoded. They stay names of their own: whether two are
// the same, the facts do not say.
func variants(ctx context.Context, folder string) (warnings []string, err error) {
	for _, table := range []struct {
		schema, file, noun string
	}{{tables.Entities, kg.EntitiesFile, "entity"}, {tables.Relations, kg.RelationsFile, "relation"}} {
		each := func(visit func(name []byte)) error {
			return tables.EachName(ctx, storage.Join(folder, table.file), table.schema, func(name []byte) error { visit(name); return nil })
		}
		// The odd names by what they are without the additions.
		odd := map[string]string{}
		err := each(func(name []byte) {
			if bare := bareName(name); len(bare) > 0 && !bytes.Equal(bare, name) && len(odd) < mostVariants {
				odd[string(bare)] = string(name)
			}
		})
		if err != nil {
			return nil, err
		}
		pairs, first := int64(0), ""
		if len(odd) > 0 {
			err = each(func(name []byte) {
				if variant, found := odd[string(name)]; found {
					if pairs++; pairs == 1 {
						first = example(variant, string(name))
					}
				}
			})
		}
		if err != nil {
			return nil, err
		}
		if pairs > 0 {
			warnings = append(warnings, fmt.Sprintf("warning: %s differ only by spaces around them, quotes, a \".0\" or how accents are encoded, such as "+
				"%s: if these are one %s, give it one name",
				plural(pairs, "pair")+" of names", first, table.noun))
		}
	}
	return warnings, nil
}

// example returns two names in quotes, which show the difference where it is in the encoding alone.
func example(variant, name string) string {
	quote := strconv.Quote
	if norm.NFC.String(variant) == norm.NFC.String(name) {
		quote = strconv.QuoteToASCII
	}
	return quote(variant) + " and " + quote(name)
}

// bareName returns a name without spaces around it, then without a pair of quotes, then without the ".0" of a whole
// number, in Unicode's form C.
func bareName(name []byte) []byte {
	name = norm.NFC.Bytes(bytes.TrimSpace(name))
	if n := len(name); n > 2 && name[0] == '"' && name[n-1] == '"' {
		name = name[1 : n-1]
	}
	if whole, found := bytes.CutSuffix(name, []byte(".0")); found && len(bytes.Trim(whole, "0123456789")) == 0 {
		return whole
	}
	return name
}
