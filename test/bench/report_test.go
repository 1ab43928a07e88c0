package main

import "testing"

// TestFigure: budgets go both ways, and only a count that misses one is an error.
func TestFigure(t *testing.T) {
	for _, test := range []struct {
		reason string
		add    func(r *Report)
		row    string
		kept   bool
	}{
		{"without a budget", func(r *Report) { r.measured("time", 12.34, "ms") }, "time                                                                 12.3 ms", true},
		{"at its budget", func(r *Report) { r.counted("writes", 13, "", atMost(13)) }, "writes                                                                 13            ≤ 13", true},
		{"a count beyond its budget", func(r *Report) { r.counted("writes", 13.5, "", atMost(13)) }, "writes                                                               13.5            ≤ 13       TOO MUCH", false},
		{"a time beyond its budget is reported", func(r *Report) { r.measured("share", 62, "%", atLeast(75)) }, "share                                                                  62 %          ≥ 75       missed", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			report := &Report{}
			test.add(report)
			if row := report.Figures[0].row(); row != test.row {
				t.Errorf("%q, want %q", row, test.row)
			}
			if kept := report.print(); kept != test.kept {
				t.Errorf("kept: %t", kept)
			}
		})
	}
}
