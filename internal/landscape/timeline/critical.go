package timeline

import (
	"slices"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/model/siblings/itemorder"
)

// precedence has, for each object below another one, those beside it that come first: as
// controllers start Installations in the order of their exports, and items by dependsOn.
func (r *Row) precedence() map[*Row][]*Row {
	first := map[*Row][]*Row{}
	var installations []*v1alpha1.Installation
	names := map[string]*Row{}
	for _, row := range r.below {
		switch {
		case row.Node.Installation != nil:
			installations = append(installations, row.Node.Installation)
			names[row.Node.Name] = row
		case row.Node.DeployItem != nil:
			names[row.Node.TemplateName] = row
		}
	}
	add := func(row *Row, earlier []string) {
		for _, name := range earlier {
			if other := names[name]; other != nil && other != row {
				first[row] = append(first[row], other)
			}
		}
	}
	for _, row := range r.below {
		if row.Node.DeployItem != nil {
			add(row, itemorder.DependsOn(row.Node.DeployItem))
		}
	}
	if len(installations) == 0 {
		return first
	}
	among := siblings.NewRelations(installations[0], installations)
	for _, row := range r.below {
		if row.Node.Installation != nil {
			add(row, siblings.DeployedBefore(row.Node.Installation, among))
		}
	}
	return first
}

// awaitOthers says of the objects below how long they waited for others beside them, since when
// all of them were written.
func (r *Row) awaitOthers(written *time.Time) {
	if len(r.below) == 0 || deletes(r.Node) {
		return
	}
	for row, first := range r.precedence() {
		if last := latest(first); last != nil {
			row.await(written, last.end())
		}
	}
}

// deletes reports whether an object is being deleted: then those that come first when it is deployed
// come last.
func deletes(node *inspect.Node) bool {
	object := node.Object()
	return object != nil && object.GetDeletionTimestamp() != nil
}

// await replaces what is in the way of a wait that began at a time, or with the first span, and
// ended when others had ended; nil if they have not.
func (r *Row) await(from, until *time.Time) {
	begun := r.Spans[0].From
	if from != nil && from.Before(begun) {
		begun = *from
	}
	wait := Span{Kind: Waits, From: begun, To: until}
	if until == nil {
		r.Spans = []Span{wait}
		return
	}
	if !until.After(begun) {
		return
	}
	kept := []Span{wait}
	for _, span := range r.Spans {
		switch {
		case span.To != nil && !span.To.After(*until):
			continue
		case span.From.Before(*until):
			span.From = *until
		}
		kept = append(kept, span)
	}
	r.Spans = kept
}

func (r *Row) end() *time.Time { return r.Spans[len(r.Spans)-1].To }

// markCritical marks the objects that decide when a job ends: what ended last below an object that is
// marked, what that had to wait for, and so on.
func (r *Row) markCritical() {
	if r.Critical {
		return
	}
	r.Critical = true
	first := r.precedence()
	if deletes(r.Node) {
		first = nil
	}
	for row := latest(withoutSuccessors(r.below, first)); row != nil && !row.Critical; row = latest(first[row]) {
		row.markCritical()
	}
}

// withoutSuccessors are the rows that no row waits for which has not ended: of those, one ends last.
func withoutSuccessors(rows []*Row, first map[*Row][]*Row) []*Row {
	awaited := map[*Row]bool{}
	for row, others := range first {
		if row.end() != nil {
			continue
		}
		for _, other := range others {
			awaited[other] = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return awaited[row] })
	if len(kept) == 0 {
		return rows // a cycle
	}
	return kept
}

// latest is the row that ended last. One that has not ended comes before all that have, the one that
// began first before others.
func latest(rows []*Row) *Row {
	var last *Row
	for _, row := range rows {
		if last == nil || after(row, last) {
			last = row
		}
	}
	return last
}

func after(a, b *Row) bool {
	end, other := a.end(), b.end()
	switch {
	case end == nil && other == nil:
		return a.Spans[0].From.Before(b.Spans[0].From)
	case end == nil || other == nil:
		return end == nil
	}
	return end.After(*other)
}
