package localrun

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/local"
	"go.landscaper.dev/internal/local/folder"
)

// lookAgain is how often the files of a folder are looked at with --watch.
const lookAgain = 300 * time.Millisecond

// watcher takes over what changes in a folder.
type watcher struct {
	read      func() (*folder.Content, error)
	directory string
	landscape *local.Landscape
	// taken is the fingerprint of what was read last.
	taken []string
	// errors gets a line for each change that is not taken over.
	errors io.Writer
	// problem is why the last change is not taken over.
	problem atomic.Pointer[string]
}

// follow looks at the files until the context ends.
func (w *watcher) follow(ctx context.Context) {
	clock := time.NewTicker(lookAgain)
	defer clock.Stop()
	last := w.taken
	for {
		select {
		case <-clock.C:
		case <-ctx.Done():
			return
		}
		now := fingerprint(w.directory)
		// Who writes a file empties it first: what still changes is not read, or all of it would be deleted.
		settled := slices.Equal(now, last)
		last = now
		if settled && !slices.Equal(now, w.taken) {
			w.taken = now
			w.takeOver()
		}
	}
}

// takeOver takes over the files as they are.
func (w *watcher) takeOver() {
	content, err := w.read()
	if err == nil {
		err = w.landscape.Change(content.Objects, content.Components)
	}
	if err == nil {
		w.problem.Store(nil)
		return
	}
	text := "The change is not taken over: " + terminal.PrintableLines(err.Error())
	w.problem.Store(&text)
	fmt.Fprintln(w.errors, text)
}

// wrong is why the last change is not taken over; empty if it is.
func (w *watcher) wrong() string {
	if problem := w.problem.Load(); problem != nil {
		return terminal.OneLine(*problem)
	}
	return ""
}

// fingerprint is another one when a file has changed.
func fingerprint(directory string) []string {
	var all []string
	// A file that cannot be read is found when the folder is read.
	_ = filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		const most = 10_000
		if err != nil || len(all) > most {
			return filepath.SkipDir
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			all = append(all, fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
		}
		return nil
	})
	return all
}
