package siblings

import (
	"testing"

	"go.landscaper.dev/internal/model/dataflow"
)

// TestIsLacking: whether a job waits for what it misses, or fails.
func TestIsLacking(t *testing.T) {
	value := &dataflow.MissingError{Object: dataflow.Object{Kind: dataflow.KindDataObject, Written: "host"}}
	target := &dataflow.MissingError{Object: dataflow.Object{Kind: dataflow.KindTarget, Written: "host"}}
	exporter := func(change func(*Exporter)) Exporter {
		e := Exporter{Name: "database", Kind: dataflow.KindDataObject, Object: "host", Active: true}
		change(&e)
		return e
	}
	same := func(*Exporter) {}
	for _, test := range []struct {
		reason    string
		missing   []*dataflow.MissingError
		exporters []Exporter
		want      bool
	}{
		{"nothing is missing", nil, nil, false},
		{"an Installation is about to export it", []*dataflow.MissingError{value}, []Exporter{exporter(same)}, false},
		{"none exports it", []*dataflow.MissingError{value}, nil, true},
		{"the one that does has no job", []*dataflow.MissingError{value}, []Exporter{exporter(func(e *Exporter) { e.Active = false })}, true},
		{"it has none, and another one has", []*dataflow.MissingError{value}, []Exporter{exporter(func(e *Exporter) { e.Active = false }), exporter(same)}, false},
		{"it waits for the importer: the export will not come", []*dataflow.MissingError{value}, []Exporter{exporter(func(e *Exporter) { e.Cycle = "a, b" })}, true},
		{"it exports another kind of this name", []*dataflow.MissingError{target}, []Exporter{exporter(same)}, true},
		{"one of two is lacking", []*dataflow.MissingError{value, target}, []Exporter{exporter(same)}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := IsLacking(test.missing, test.exporters); got != test.want {
				t.Errorf("lacking: %t", got)
			}
		})
	}
}
