package main

import (
	"fmt"
	"io"
	"sort"
	"time"
)

// score counts cases.
type score struct{ passed, total int }

func (s *score) count(ok bool) {
	s.total++
	if ok {
		s.passed++
	}
}

func (s *score) String() string {
	if s.total == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.1f %%), %d failed", s.passed, s.total,
		100*float64(s.passed)/float64(s.total), s.total-s.passed)
}

// summary collects the scores of a run.
type summary struct {
	tiers, features map[string]*score
	basic, strict   score
	failed          int
	names           []string
}

func newSummary() *summary {
	return &summary{tiers: map[string]*score{}, features: map[string]*score{}}
}

func (s *summary) add(c testCase, o outcome) {
	tier := fmt.Sprintf("tier %d", c.Tier)
	for table, key := range map[*map[string]*score]string{&s.tiers: tier, &s.features: tier + " " + c.Feature} {
		if (*table)[key] == nil {
			(*table)[key] = &score{}
		}
		(*table)[key].count(o.ok)
	}
	if o.isErr {
		s.basic.count(o.ok)
		s.strict.count(o.strict)
	}
	if !o.ok {
		s.failed++
	}
	if !o.passed() {
		s.names = append(s.names, c.Name)
	}
}

func (s *summary) print(w io.Writer, took time.Duration) {
	printScores(w, "By feature", s.features)
	printScores(w, "By tier", s.tiers)
	fmt.Fprintf(w, "\nError cases\n  basic   %s\n  strict  %s\n", &s.basic, &s.strict)
	if len(s.names) > 0 {
		fmt.Fprintln(w, "\nNot passed (or not in the strict sense)")
		for _, n := range s.names {
			fmt.Fprintln(w, "  "+n)
		}
	}
	fmt.Fprintf(w, "\nran for %s\n", took.Round(time.Millisecond))
}

func printScores(w io.Writer, title string, table map[string]*score) {
	fmt.Fprintln(w, "\n"+title)
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(w, "  %-34s %s\n", k, table[k])
	}
}
