package main
func (m *machine) aggregate(columns int) {}
func (m *machine) aggregateBackward(columns int) {}
func (m *machine) normalize(dim int) {}
func (m *machine) normalizeBackward(dim int) {}
