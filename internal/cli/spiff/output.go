package spiff

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/content/template/spiff"
)

// outputFlags choose what is printed and how.
type outputFlags struct {
	json     bool
	path     string
	selected []string
	evaluate string
	split    bool
}

func (f *outputFlags) registerView(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print one line of JSON per document")
	flags.StringVar(&f.path, "path", "", "print only the content of this path")
	flags.StringArrayVar(&f.selected, "select", nil, "print only this field (repeatable); fields are named by their last step")
	flags.BoolVar(&f.split, "split", false, "print every list entry as a document")
}

func (f *outputFlags) register(cmd *cobra.Command) {
	f.registerView(cmd)
	cmd.Flags().StringVar(&f.evaluate, "evaluate", "", "print the value of this expression on the result")
}

// write prints documents the way the flags ask for.
func (f *outputFlags) write(ctx context.Context, engine *spiff.Engine, results []*spiff.Result, out *bytes.Buffer) error {
	var views []*spiff.Result
	for _, r := range results {
		parts, err := f.view(ctx, engine, r)
		if err != nil {
			return err
		}
		views = append(views, parts...)
	}
	for i, r := range views {
		if f.json {
			if r.Data() == nil && len(views) > 1 {
				continue
			}
			if err := r.WriteJSON(out); err != nil {
				return err
			}
			continue
		}
		if i > 0 || len(views) > 1 {
			out.WriteString("---\n")
		}
		if r.Empty() && len(views) > 1 {
			continue
		}
		if err := r.WriteYAML(out); err != nil {
			return err
		}
	}
	return nil
}

func (f *outputFlags) view(ctx context.Context, engine *spiff.Engine, r *spiff.Result) ([]*spiff.Result, error) {
	var err error
	if f.path != "" {
		if r, err = r.At(f.path); err != nil {
			return nil, err
		}
	}
	if f.evaluate != "" {
		if r, err = engine.Evaluate(ctx, f.evaluate, r); err != nil {
			return nil, fmt.Errorf("--evaluate: %w", err)
		}
	}
	if len(f.selected) > 0 {
		if r, err = r.Select(f.selected); err != nil {
			return nil, err
		}
	}
	if f.split {
		return r.Split(), nil
	}
	return []*spiff.Result{r}, nil
}
