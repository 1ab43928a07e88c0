package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Entry is one run in the history: one line of the file. Counts are compared with those of
// other runs; times are those of one machine in one hour, and are kept for the record.
type Entry struct {
	Time   time.Time          `json:"time"`
	Commit string             `json:"commit"`
	Counts map[string]float64 `json:"counts"`
	Times  map[string]float64 `json:"times,omitempty"`
}

// entry returns what the history keeps of a report.
func (r *Report) entry() Entry {
	entry := Entry{Time: time.Now().UTC().Truncate(time.Second), Counts: map[string]float64{}, Times: map[string]float64{}}
	for _, figure := range r.Figures {
		kept := entry.Times
		if figure.Counted {
			kept = entry.Counts
		}
		kept[figure.Name] = math.Round(figure.Value*100) / 100
	}
	return entry
}

// remember adds a run to the history, and prints which counts differ from the last one.
func remember(file string, report *Report) error {
	last, err := lastEntry(file)
	if err != nil {
		return err
	}
	entry := report.entry()
	if commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		entry.Commit = strings.TrimSpace(string(commit))
	}
	for _, line := range entry.changes(last) {
		fmt.Println(line)
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return errors.Join(err, out.Close())
}

// changes says which counts differ by more than chance explains.
func (e Entry) changes(last *Entry) []string {
	if last == nil {
		return nil
	}
	var lines []string
	for _, key := range sortedKeys(e.Counts) {
		before, known := last.Counts[key]
		if now := e.Counts[key]; known && (now > before*1.03+0.05 || now < before*0.97-0.05) {
			lines = append(lines, fmt.Sprintf("%s: %.2f, was %.2f at %s", key, now, before, last.Commit))
		}
	}
	return lines
}

// lastEntry returns the last line of a history, or nil.
func lastEntry(file string) (*Entry, error) {
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var last *Entry
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		entry := &Entry{}
		if err := json.Unmarshal(lines.Bytes(), entry); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		last = entry
	}
	return last, lines.Err()
}
