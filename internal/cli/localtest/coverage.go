package localtest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/local/cases"
)

// recorders record what is executed, by the directory that is tested; nil without --coverage.
type recorders map[string]*coverage.Recorder

func (f *flags) recorders(ctx context.Context, jobs []job) (recorders, error) {
	if !f.coverage {
		return nil, nil
	}
	all := recorders{}
	for _, one := range jobs {
		if all[one.file.Directory] != nil {
			continue
		}
		recorder := coverage.NewRecorder()
		if err := one.file.Know(ctx, recorder); err != nil {
			return nil, err // names the blueprint
		}
		all[one.file.Directory] = recorder
	}
	return all, nil
}

func (r recorders) within(ctx context.Context, file *cases.File) context.Context {
	if recorder := r[file.Directory]; recorder != nil {
		return coverage.With(ctx, recorder)
	}
	return ctx
}

// write lists what was never executed.
func (r recorders) write(out io.Writer) {
	for _, directory := range slices.Sorted(maps.Keys(r)) {
		missed, all := r[directory].Missed()
		fmt.Fprintf(out, "coverage of %s: %d of %d branches\n", directory, all-len(missed), all)
		for _, b := range missed {
			place := b.Template
			if b.Line > 0 {
				place = fmt.Sprintf("%s:%d", b.Template, b.Line)
			}
			fmt.Fprintf(out, "      %s: never: %s\n", place, b.Text)
		}
	}
}
