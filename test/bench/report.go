package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Report holds all figures, in the order in which they were measured.
type Report struct {
	Figures []Figure `json:"figures"`
}

// Figure is one measured value with its budget, if it has one.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Counted says that the value does not depend on the machine.
	Counted bool `json:"counted,omitempty"`
	// Most and Least are the budget.
	Most  *float64 `json:"most,omitempty"`
	Least *float64 `json:"least,omitempty"`
}

// budget sets the budget of a figure.
type budget func(*Figure)

func atMost(value float64) budget  { return func(f *Figure) { f.Most = &value } }
func atLeast(value float64) budget { return func(f *Figure) { f.Least = &value } }

// counted adds a figure that is the same on each machine.
func (r *Report) counted(name string, value float64, unit string, budgets ...budget) {
	r.measured(name, value, unit, budgets...)
	r.Figures[len(r.Figures)-1].Counted = true
}

// measured adds a figure that depends on the machine, and on what else it does.
func (r *Report) measured(name string, value float64, unit string, budgets ...budget) {
	figure := Figure{Name: name, Value: value, Unit: unit}
	for _, set := range budgets {
		set(&figure)
	}
	r.Figures = append(r.Figures, figure)
}

// misses says whether a figure does not keep its budget.
func (f Figure) misses() bool {
	return f.Most != nil && f.Value > *f.Most || f.Least != nil && f.Value < *f.Least
}

// row is a line of the table.
func (f Figure) row() string {
	limit, verdict := "", ""
	switch {
	case f.Most != nil:
		limit = "≤ " + number(*f.Most)
	case f.Least != nil:
		limit = "≥ " + number(*f.Least)
	}
	if f.misses() {
		verdict = "missed"
		if f.Counted {
			verdict = "TOO MUCH"
		}
	}
	return strings.TrimRight(fmt.Sprintf("%-62s %10s %-10s %-10s %s", f.Name, number(f.Value), f.Unit, limit, verdict), " ")
}

// number writes a value with as many digits as it is worth.
func number(value float64) string {
	switch {
	case value == float64(int64(value)):
		return strconv.FormatInt(int64(value), 10)
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}

// print writes the table and says whether all counts keep their budgets. Times are told
// alone: they are those of this machine in this hour.
func (r *Report) print() bool {
	kept := true
	for _, figure := range r.Figures {
		fmt.Println(figure.row())
		kept = kept && (!figure.Counted || !figure.misses())
	}
	return kept
}
