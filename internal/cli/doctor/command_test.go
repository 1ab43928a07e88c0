package doctor

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/doctor/diagnosis"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestPrint(t *testing.T) {
	findings := []diagnosis.Finding{
		{Check: "clocks", Severity: diagnosis.OK, Message: "fine"},
		{Check: "jobs", Severity: diagnosis.Warning, Message: "failed\x1b[2J", Remedy: "look"},
		{Check: "targets", Severity: diagnosis.Problem, Message: "no\nroute", Remedy: "mend it"},
	}
	for _, test := range []struct {
		reason  string
		flags   flags
		columns int
		want    string
	}{
		{"for people", flags{}, 0, "✅ clocks: fine\n⚠️  jobs: failed?[2J\n   look\n❌ targets: no route\n   mend it\n"},
		{"in ASCII", flags{ascii: true}, 0, "ok      clocks: fine\nwarning jobs: failed?[2J\n   look\nproblem targets: no route\n   mend it\n"},
		{"in colours", flags{}, 80, "✅ clocks: fine\n⚠️  jobs: \x1b[33mfailed?[2J\x1b[0m\n   look\n❌ targets: \x1b[31mno route\x1b[0m\n   mend it\n"},
		{"without colours", flags{noColor: true}, 80, "✅ clocks: fine\n⚠️  jobs: failed?[2J\n   look\n❌ targets: no route\n   mend it\n"},
		{"for programs", flags{output: "json"}, 0, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{Columns: test.columns}
			err := test.flags.print(c.Streams(), findings)
			if err == nil || err.Error() != "problems found: 1" || test.want != "" && c.Out.String() != test.want {
				t.Errorf("%v\n%s", err, c.Out.String())
			}
			if test.want == "" && !strings.Contains(c.Out.String(), `"severity": "problem"`) {
				t.Errorf("%s", c.Out.String())
			}
		})
	}
	if err := (&flags{}).print((&terminaltest.Console{}).Streams(), findings[:2]); err != nil {
		t.Errorf("a warning is no problem: %v", err)
	}
}

// TestPrintMany: findings of one check do not hide those of another.
func TestPrintMany(t *testing.T) {
	var findings []diagnosis.Finding
	for range 1000 {
		findings = append(findings, diagnosis.Finding{Check: "jobs", Severity: diagnosis.Warning, Message: "failed", Remedy: "look"})
	}
	findings = append(findings, diagnosis.Finding{Check: "last", Severity: diagnosis.OK, Message: "fine"})
	c := &terminaltest.Console{}
	if err := (&flags{}).print(c.Streams(), findings); err != nil {
		t.Error(err)
	}
	out := c.Out.String()
	if strings.Count(out, "jobs: failed\n") != shownOfEach || !strings.HasSuffix(out, "   and 990 more of jobs: landscaper-cli doctor -o json shows all\n✅ last: fine\n") {
		t.Errorf("%s", out)
	}
	c = &terminaltest.Console{}
	if err := (&flags{output: "json"}).print(c.Streams(), findings); err != nil || strings.Count(c.Out.String(), `"check": "jobs"`) != 1000 {
		t.Errorf("programs get all: %v", err)
	}
}
