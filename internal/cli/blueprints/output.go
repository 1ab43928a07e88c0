package blueprints

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/plan"
)

// write shows a tree as a stream, or as files.
func (o *renderOptions) write(node *plan.Node) error {
	all := o.units(node, nil)
	switch {
	case o.directory != "":
		return o.writeFiles(all)
	case o.output == outputJSON:
		return writeJSON(o.streams.Out, all)
	}
	return o.writeStream(all)
}

func (o *renderOptions) writeStream(all []unit) error {
	line := strings.Repeat("-", 38)
	for _, u := range all {
		text, err := o.encode(u)
		if err == nil {
			_, err = fmt.Fprintf(o.streams.Out, "%s\n-- %s\n%s\n%s\n", line, terminal.OneLine(u.title()), line, text)
		}
		if err != nil {
			return err // the standard output
		}
	}
	for _, none := range []struct{ kind, text string }{
		{kindDeployItems, "No deploy items defined"}, {kindSubinstallations, "No subinstallations defined"},
	} {
		if o.kinds[none.kind] && !slices.ContainsFunc(all, func(u unit) bool { return u.kind == none.kind }) {
			fmt.Fprintln(o.streams.Out, none.text)
		}
	}
	return nil
}

// writeFiles writes each unit into a file of its own.
func (o *renderOptions) writeFiles(all []unit) error {
	if err := os.MkdirAll(o.directory, 0o755); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	// What is there may have links: they must not lead out of the directory.
	root, err := os.OpenRoot(o.directory)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	defer root.Close() //nolint:errcheck // WriteFile reports what matters
	written := map[string]bool{}
	for _, u := range all {
		name := u.path() + "." + o.output
		if written[name] {
			return fmt.Errorf("write %s: there are two results %q: give the deploy item another name", name, u.title())
		}
		written[name] = true
		text, err := o.encode(u)
		if err == nil {
			err = o.writeFile(root, filepath.FromSlash(name), text)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(o.directory, name), err)
		}
	}
	plural := "s"
	if len(all) == 1 {
		plural = ""
	}
	_, err = fmt.Fprintf(o.streams.Out, "Wrote %d file%s to %s\n", len(all), plural, o.directory)
	return err // the standard output
}

// writeFile writes one result. One with secrets is for the user alone, also where a file
// is replaced that others may read.
func (o *renderOptions) writeFile(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err // the caller names the file
	}
	if !o.sensitive {
		return root.WriteFile(name, text, 0o644)
	}
	if err := root.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // as above
	}
	return root.WriteFile(name, text, 0o600)
}

// writeJSON writes one document for programs.
func writeJSON(out io.Writer, all []unit) error {
	type entry struct {
		Path    string `json:"path"`
		Content any    `json:"content"`
	}
	entries := make([]entry, 0, len(all))
	for _, u := range all {
		content, err := tidy(u.content)
		if err != nil {
			return fmt.Errorf("%s: %w", u.title(), err)
		}
		entries = append(entries, entry{u.path(), content})
	}
	return terminal.WriteJSON(out, entries)
}

func (o *renderOptions) encode(u unit) ([]byte, error) {
	content, err := tidy(u.content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.title(), err)
	}
	var text bytes.Buffer
	if o.output == outputJSON {
		err = terminal.WriteJSON(&text, content)
	} else {
		err = terminal.WriteYAML(&text, content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.title(), err)
	}
	return text.Bytes(), nil
}
