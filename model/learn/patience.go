package learn

import "tagnet/model/weights/checkpoint"

// Stopped reports whether a training ends after the last of its records, since patience epochs have brought no better
// validation. It ends only after an epoch that was validated; a patience of 0 ends none.
func Stopped(records []checkpoint.Record, patience int) bool {
	if patience == 0 || len(records) == 0 {
		return false
	}
	best, last := records[0], records[len(records)-1]
	for _, r := range records {
		if r.Valid.Better(best.Valid) {
			best = r
		}
	}
	return last.Partial == nil && last.Valid != nil && last.Epoch-best.Epoch >= patience
}
