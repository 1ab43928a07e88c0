package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

func planned() *preview.Result {
	r := &preview.Result{
		Items: []preview.Item{
			{Path: "shop/web/chart", Type: "helm", Unknown: "items of type helm\ncannot be compared"},
			{Path: "shop/own", Target: "edge", Action: diff.Keep, Changes: []diff.Change{{Action: diff.Keep, Kind: "ConfigMap", Name: "stays"}}},
			{Path: "shop/db/server", Target: "edge", Action: diff.Update, Changes: []diff.Change{
				{Action: diff.Create, Kind: "Namespace", Name: "new", Fields: []diff.Field{{Path: "metadata.labels.a", After: "b"}, {Path: "spec.list", After: []any{"x", map[string]any{"y": 1}}}}},
				{Action: diff.Keep, Kind: "ConfigMap", Namespace: "n", Name: "stays"},
				{Action: diff.Update, Kind: "ConfigMap", Namespace: "n", Name: "c", Fields: []diff.Field{
					{Path: "data.gone", Before: "x"}, {Path: "data.more", After: ""}, {Path: "data.one", Before: "a\x1b[2J", After: "b"}, {Path: "data.text", Before: "1\n2\n3\n", After: "1\nzwei\n3\n4\n"},
				}},
				{Action: diff.Update, Kind: "Secret", Namespace: "n", Name: "s", Fields: []diff.Field{{Path: "data.p", Before: "(secret)", After: "(secret)", Secret: true}}},
				{Action: diff.Replace, Kind: "Secret", Namespace: "n", Name: "r", Fields: []diff.Field{{Path: "data.p", Before: "(secret)", After: "(secret)", Secret: true}}},
				{Action: diff.Move, Kind: "ConfigMap", Namespace: "n", Name: "m", MovesFrom: "shop/old", MovesTo: "shop/db/server"},
				{Action: diff.Keep, Kind: "ConfigMap", Namespace: "n", Name: "s", Reason: "because deploy item shop/web/chart expects it"},
				{Action: diff.Move, Kind: "ConfigMap", Namespace: "n", Name: "o", MovesFrom: "shop/old", MovesTo: "shop/db/server", Fields: []diff.Field{{Path: "data.a", Before: "1", After: "2"}}},
				{Action: diff.Create, Kind: "Secret", Namespace: "n", Name: "t", Fields: []diff.Field{{Path: "data.p", After: "(secret)", Secret: true}}},
			}},
			{Path: "shop/old", Target: "edge", Action: diff.Delete, Changes: []diff.Change{{Action: diff.Delete, Kind: "ConfigMap", Namespace: "n", Name: "d"}}},
		},
		Follows:  []string{"front"},
		Waiting:  []preview.Waiting{{Path: "shop/tests", Reason: "import x: there is\nno DataObject"}},
		Warnings: []string{"unknown field"},
	}
	for _, item := range r.Items {
		for _, change := range item.Changes {
			r.Summary.Add(change.Action)
		}
	}
	r.Summary.Unknown = 2
	return r
}

func TestPlanForPeople(t *testing.T) {
	c := &terminaltest.Console{}
	if err := (&options{output: "text"}).print(c.Streams(), planned()); err != nil {
		t.Fatal(err)
	}
	const want = `? shop/web/chart: items of type helm cannot be compared
shop/db/server on edge
  + create Namespace new
      + metadata.labels.a: b
      + spec.list:
        + - x
        + - "y": 1
  ~ change ConfigMap n/c
      - data.gone: x
      + data.more: ""
      ~ data.one: a?[2J -> b
      ~ data.text:
        - 2
        + zwei
        + 4
  ~ change Secret n/s
      ~ data.p: (secret, changed)
  ± delete and create Secret n/r
      ~ data.p: (secret, changed)
  → ConfigMap n/m moves from deploy item shop/old to deploy item shop/db/server
  = ConfigMap n/s stays, because deploy item shop/web/chart expects it
  → ConfigMap n/o moves from deploy item shop/old to deploy item shop/db/server, and changes
      ~ data.a: 1 -> 2
  + create Secret n/t
      + data.p: (secret)
- shop/old on edge: the item goes
  - delete ConfigMap n/d
The Installation front gets a job, too: it imports what changes
? shop/tests is known only when the job runs: import x: there is no DataObject
Plan: 2 to create, 2 to change, 2 move, 1 to delete, 3 unchanged, 1 to delete and create, 2 known only when the job runs
`
	if difference := cmp.Diff(want, c.Out.String()); difference != "" {
		t.Error(difference)
	}
	if c.Err.String() != "Warning: unknown field\n" {
		t.Error(c.Err.String())
	}
	c = &terminaltest.Console{Columns: 80}
	if err := (&options{output: "text"}).print(c.Streams(), planned()); err != nil || !strings.Contains(c.Out.String(), "\x1b[31m  - delete ConfigMap n/d\x1b[0m\n") {
		t.Errorf("%v %q", err, c.Out.String())
	}
}

func TestPlanForPrograms(t *testing.T) {
	for output, want := range map[string]string{"json": `"summary": {`, "yaml": "summary:\n"} {
		t.Run(output, func(t *testing.T) {
			c := &terminaltest.Console{}
			if err := (&options{output: output}).print(c.Streams(), planned()); err != nil || !strings.Contains(c.Out.String(), want) || c.Err.Len() > 0 {
				t.Errorf("%s: %v %s", output, err, c.Out.String())
			}
		})
	}
}
