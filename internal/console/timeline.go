package console

import (
	"time"

	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/timeline"
)

// Timeline is the current or last job of an Installation.
type Timeline struct {
	Start time.Time  `json:"start"`
	End   *time.Time `json:"end,omitempty"`
	// Bars are the objects of the job; More is how many others there are.
	Bars []Bar `json:"bars"`
	More int   `json:"more,omitempty"`
}

// Bar is what an object did during the job.
type Bar struct {
	Object
	Depth    int             `json:"depth,omitempty"`
	Spans    []timeline.Span `json:"spans"`
	Critical bool            `json:"critical,omitempty"`
}

// timeline returns what each object did in the current or last job of an Installation; nil if no status
// says it. A long one has what is on the critical path, and the first of the others.
func (s *state) timeline(node *inspect.Node) *Timeline {
	of := timeline.Of(node)
	if of == nil {
		return nil
	}
	t := &Timeline{Start: of.Start, End: of.End, Bars: []Bar{}}
	others := shown
	for _, row := range of.Rows {
		if !row.Critical {
			others--
		}
		if !row.Critical && others < 0 {
			t.More++
			continue
		}
		t.Bars = append(t.Bars, Bar{Object: s.object(row.Node), Depth: row.Depth, Spans: row.Spans, Critical: row.Critical})
	}
	return t
}
