package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is how long no file may change before changes are reported: editors and branches of Git
// write many files in a moment.
const quiet = 100 * time.Millisecond

// Watcher reports changes of sources.
type Watcher struct {
	// Changes has the files that have changed since the last receive, relative to the root.
	Changes chan []string

	files *fsnotify.Watcher

	mutex   sync.Mutex
	sources Sources
}

// Watch watches sources until the context ends.
func Watch(ctx context.Context, sources Sources) (*Watcher, error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{Changes: make(chan []string), files: files}
	if err := w.Follow(sources); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	go w.run(ctx)
	return w, nil
}

// Follow watches these sources from now on. A directory that was watched before stays watched, since it
// may be used again.
func (w *Watcher) Follow(sources Sources) error {
	w.mutex.Lock()
	w.sources = sources
	w.mutex.Unlock()
	for _, directory := range sources.Directories() {
		if err := w.files.Add(directory); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watch %s: %w", directory, err)
		}
	}
	return nil
}

// run collects events. What changes while the last report is not received yet is added to it.
func (w *Watcher) run(ctx context.Context) {
	defer w.files.Close() //nolint:errcheck // nothing is watched any more
	changed := map[string]bool{}
	settled := time.NewTimer(quiet)
	// report is nil while nothing is to be reported, or files still change.
	var report chan []string
	for {
		select {
		case event, open := <-w.files.Events:
			if !open {
				return
			}
			if name, counts := w.name(event); counts {
				changed[name] = true
				report = nil
				settled.Reset(quiet)
			}
		case <-w.files.Errors:
			// Events were lost: anything may have changed.
			changed["many files"] = true
			settled.Reset(quiet)
		case <-settled.C:
			if len(changed) > 0 {
				report = w.Changes
			}
		case report <- slices.Sorted(maps.Keys(changed)):
			changed, report = map[string]bool{}, nil
		case <-ctx.Done():
			return
		}
	}
}

// name is the file of an event, and whether it counts.
func (w *Watcher) name(event fsnotify.Event) (string, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if event.Op == fsnotify.Chmod || !w.sources.Count(event.Name) {
		return "", false
	}
	if name, err := filepath.Rel(w.sources.root, event.Name); err == nil {
		return name, true
	}
	return event.Name, true
}
