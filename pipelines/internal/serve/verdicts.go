package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"tagnet/formats/input/triples"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// said is what a server has read of the workspace's verdicts, which other processes may add to.
type said struct {
	sync.Mutex
	judged  verdicts.Judged
	written time.Time // when the file was, unless it was so late that the next verdict may have the same time
}

// verdict is the body of POST /verdicts, or a verdict that counts.
type verdict struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
	Verdict  string `json:"verdict"`
	Who      string `json:"who,omitempty"`
}

type verdictsResponse struct {
	Verdicts []verdict `json:"verdicts"`
}

// judged returns the verdicts that count now, and has the model use them. Its error is a failure.
func (s *server) judged(ctx context.Context) (verdicts.Judged, error) {
	s.said.Lock()
	defer s.said.Unlock()
	url, begun := s.workspace.Path(verdicts.File), time.Now()
	at := workspace.WrittenAt(url)
	if s.workspace.Root() == "" || !at.IsZero() && at.Equal(s.said.written) {
		return s.said.judged, nil
	}
	read, err := verdicts.Read(ctx, url)
	if err == nil && read.SHA256 != s.said.judged.SHA256 {
		err = s.model.ReadVerdicts(ctx)
	}
	if err != nil {
		return s.said.judged, &failure{status: http.StatusInternalServerError, Text: command.OneLine(err)}
	}
	if s.said.judged, s.said.written = read, at; begun.Sub(at) < time.Second {
		s.said.written = time.Time{}
	}
	return read, nil
}

// useVerdicts has the model use the verdicts that count now.
func (s *server) useVerdicts(ctx context.Context) {
	if !workspace.WrittenAt(s.workspace.Path(verdicts.File)).IsZero() { // else it may take long to see whether there are any
		_, _ = s.judged(ctx) // a request for the verdicts tells the error
	}
}

func (s *server) judge(w http.ResponseWriter, r *http.Request) error {
	if !s.takesVerdicts {
		return &failure{status: http.StatusForbidden, Text: "this server takes no verdicts: start serve with --verdicts"}
	}
	v, err := decode[verdict](w, r, []string{"head", "relation", "tail", "verdict", "who"}, "head, relation, tail and verdict")
	if err != nil {
		return err
	}
	const mostWho = 200
	given := model.Verdict{Fact: verdicts.Fact{Head: v.Head, Relation: v.Relation, Tail: v.Tail}, Judgment: verdicts.Judgment(v.Verdict), Who: v.Who}
	reason, _ := triples.Check(v.Head, v.Relation, v.Tail)
	switch {
	case reason != "":
		return invalid("%s", reason)
	case !given.Judgment.IsValid() || len(v.Who) > mostWho:
		return invalid("verdict is %q of %q: want true, false or undo, of at most %d bytes", v.Verdict, v.Who, mostWho)
	}
	err = s.model.Judge(r.Context(), given)
	if unknown := (*model.UnknownNameError)(nil); errors.As(err, &unknown) {
		return unknown
	}
	if err != nil {
		return fmt.Errorf("keeping a verdict: %w", err)
	}
	return writeJSON(w, http.StatusOK, s.health(r.Context()))
}

// listVerdicts lists the verdicts that count, in the order in which they were given.
func (s *server) listVerdicts(w http.ResponseWriter, r *http.Request) error {
	judged, err := s.judged(r.Context())
	if err != nil {
		return err
	}
	response := verdictsResponse{[]verdict{}}
	for _, v := range slices.SortedFunc(maps.Values(judged.Of), func(a, b verdicts.Verdict) int { return cmp.Compare(a.Line, b.Line) }) {
		response.Verdicts = append(response.Verdicts, verdict{Head: v.Head, Relation: v.Relation, Tail: v.Tail, Verdict: string(v.Judgment)})
	}
	return writeJSON(w, http.StatusOK, response)
}
