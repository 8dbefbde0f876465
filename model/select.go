package model

import (
	"context"

	"tagnet/model/graph/kg"
)

// OfType leaves out all answers but the entities of a type of the dataset; it replaces Among. The error of a type that
// the graph does not have is an *UnknownNameError, or ErrNoTypes if it has none at all.
func OfType(name string) AskOption { return func(a *asking) { a.kind = &name } }

// ErrNoTypes is the error of OfType for a graph whose dataset gives no types.
var ErrNoTypes = kg.ErrNoTypes

// Types returns the names of the types that entities of the graph have, for OfType; none if the dataset gives none.
func (m *Model) Types(ctx context.Context) ([]string, error) { return m.opened.View.Types(ctx) }
