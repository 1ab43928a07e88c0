package crashnote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// recordFile has what is known of attempts that have ended a process.
const recordFile = "ended.json"

// record is what is known of attempts that have ended a process.
type record struct {
	Attempts []*ended `json:"attempts"`
	// Namespaces are those of which an attempt has ended a process, and not all have been survived
	// since.
	Namespaces map[string]*suspect `json:"namespaces"`
}

// ended is an attempt that has ended a process.
type ended struct {
	Key  Key       `json:"key"`
	Ends int       `json:"ends"`
	Last time.Time `json:"last"`
}

// suspect is a namespace of which attempts have ended processes, each time one or several.
type suspect struct {
	Ends int       `json:"ends"`
	Last time.Time `json:"last"`
}

// readRecord reads the record of earlier processes. A damaged one counts as empty: it must not keep the
// server from starting.
func readRecord(directory *os.Root) (record, error) {
	known := record{}
	raw, err := directory.ReadFile(recordFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return known, err
	}
	if json.Unmarshal(raw, &known) != nil {
		known = record{}
	}
	known.Attempts = slices.DeleteFunc(known.Attempts, func(of *ended) bool { return of == nil })
	if known.Namespaces == nil {
		known.Namespaces = map[string]*suspect{}
	}
	return known, nil
}

// write replaces the stored record.
func (r *record) write(directory *os.Root) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record: %w", err)
	}
	const temporary = recordFile + ".new"
	if err := directory.WriteFile(temporary, raw, 0o600); err != nil {
		return err // names the file
	}
	return directory.Rename(temporary, recordFile)
}

// forget drops what happened long ago.
func (r *record) forget(now time.Time) {
	old := func(last time.Time) bool { return !now.Before(last.Add(memory)) }
	r.Attempts = slices.DeleteFunc(r.Attempts, func(of *ended) bool { return old(of.Last) })
	for name, of := range r.Namespaces {
		if of == nil || old(of.Last) {
			delete(r.Namespaces, name)
		}
	}
}

// blame notes that a process has ended during some attempts. It is not known which of them it was.
func (r *record) blame(attempts []Key, now time.Time) {
	blamed := map[string]bool{}
	for _, key := range attempts {
		of := r.attempt(key)
		if of == nil {
			of = &ended{Key: key}
			r.Attempts = append(r.Attempts, of)
		}
		of.Ends, of.Last = of.Ends+1, now
		if blamed[key.Namespace] {
			continue
		}
		blamed[key.Namespace] = true
		namespace := r.Namespaces[key.Namespace]
		if namespace == nil {
			namespace = &suspect{}
			r.Namespaces[key.Namespace] = namespace
		}
		namespace.Ends, namespace.Last = namespace.Ends+1, now
	}
}

// attempt returns what is known of an attempt; nil without that.
func (r *record) attempt(key Key) *ended {
	for _, of := range r.Attempts {
		if of.Key == key {
			return of
		}
	}
	return nil
}

// survived notes that a process has survived an attempt. It reports whether that changes anything.
func (r *record) survived(key Key) bool {
	before := len(r.Attempts)
	r.Attempts = slices.DeleteFunc(r.Attempts, func(of *ended) bool { return of.Key == key })
	if len(r.Attempts) == before {
		return false
	}
	if !slices.ContainsFunc(r.Attempts, func(of *ended) bool { return of.Key.Namespace == key.Namespace }) {
		delete(r.Namespaces, key.Namespace)
	}
	return true
}
