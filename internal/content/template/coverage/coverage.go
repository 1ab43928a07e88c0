// Package coverage records which branches of templates were executed, for those who test blueprints. Templates
// know nothing of it: what renders them finds a Recorder in its context.
package coverage

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Branch is a part of a template that may be executed or not.
type Branch struct {
	// Template is the file of the template, or the name of its execution.
	Template string
	// Line is where it begins; 0 is the template as a whole.
	Line int
	// Text says what must hold, such as "if .imports.tls" or "else of if .imports.tls".
	Text string
}

// Recorder counts how often branches were executed. A nil Recorder records nothing.
type Recorder struct {
	mutex sync.Mutex
	hits  map[Branch]int
}

// NewRecorder returns a recorder without branches.
func NewRecorder() *Recorder { return &Recorder{hits: map[Branch]int{}} }

// Know adds a branch that may be executed.
func (r *Recorder) Know(b Branch) { r.add(b, 0) }

// Hit records that a branch was executed.
func (r *Recorder) Hit(b Branch) { r.add(b, 1) }

func (r *Recorder) add(b Branch, times int) {
	if r == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.hits[b] += times
}

// Count is how often a branch was executed.
type Count struct {
	Branch Branch
	Times  int
}

// Counts returns all branches, for a recorder of another process. A nil Recorder has none.
func (r *Recorder) Counts() []Count {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	counts := make([]Count, 0, len(r.hits))
	for b, times := range r.hits {
		counts = append(counts, Count{b, times})
	}
	return counts
}

// Add adds what another recorder has counted.
func (r *Recorder) Add(counts []Count) {
	for _, one := range counts {
		r.add(one.Branch, one.Times)
	}
}

// Missed returns the branches that were never executed, by template and line, and how many there are in all.
func (r *Recorder) Missed() (missed []Branch, all int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for b, times := range r.hits {
		if times == 0 {
			missed = append(missed, b)
		}
	}
	slices.SortFunc(missed, func(a, b Branch) int {
		return cmp.Or(cmp.Compare(a.Template, b.Template), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return missed, len(r.hits)
}

// key is that of the recorder in a context.
type key struct{}

// With lets what is rendered below a context be recorded.
func With(ctx context.Context, r *Recorder) context.Context { return context.WithValue(ctx, key{}, r) }

// From returns the recorder of a context; nil without one.
func From(ctx context.Context) *Recorder {
	r, _ := ctx.Value(key{}).(*Recorder)
	return r
}
