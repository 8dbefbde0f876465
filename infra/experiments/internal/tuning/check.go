package tuning

import (
	"fmt"
	"math"
)

// Check returns an error about a value that no search can have, with the path of keys to it.
func (s Search) Check() (path []string, err error) {
	if len(s.Space) == 0 {
		return []string{"space"}, fmt.Errorf("space is empty: want hyperparameters with their ranges")
	}
	if field, err := s.Space.check(); err != nil {
		return []string{"space", field}, err
	}
	if s.Candidates < 2 {
		return []string{"candidates"}, fmt.Errorf("candidates is %d: want 2 or more", s.Candidates)
	}
	if len(s.Rungs) == 0 {
		return []string{"rungs"}, fmt.Errorf("rungs is empty: want epochs, such as 1, 3, 9")
	}
	for i, to := range s.Rungs {
		if to < 1 || i > 0 && to <= s.Rungs[i-1] {
			return []string{"rungs", fmt.Sprint(i)}, fmt.Errorf("rungs has %d: want epochs from 1, each more than the one before", to)
		}
	}
	if s.KeepOneIn < 2 {
		return []string{"keep_one_in"}, fmt.Errorf("keep_one_in is %d: want 2 or more", s.KeepOneIn)
	}
	if !(s.Hours >= 0) || math.IsInf(s.Hours, 0) {
		return []string{"training_hours"}, fmt.Errorf("training_hours is %g: want hours, or 0 for no bound", s.Hours)
	}
	return nil, nil
}
