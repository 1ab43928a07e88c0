package validation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSchedule: a schedule of a user never lets the parser panic, and an accepted one is due again
// or never, but not without a pause.
func TestSchedule(t *testing.T) {
	tests := []struct {
		reason, spec string
		wrong        bool
	}{
		{"every Monday", "0 6 * * 1", false},
		{"a word", "@hourly", false},
		{"a duration", "@every 90m", false},
		{"a name of a day", "0 6 * * mon", false},
		{"a zone", "TZ=UTC 0 6 * * *", false},
		{"the other word for it, with a word", "CRON_TZ=UTC @daily", false},
		{"many spaces", "  0   6\t* * *  ", false},
		{"a day that never comes", "0 0 31 2 *", false},

		{"nothing", "", true},
		{"spaces", "   ", true},
		{"a zone alone", "TZ=UTC", true},
		{"a zone and a space", "TZ=UTC ", true},
		{"a zone without a name and nothing else", "CRON_TZ=", true},
		{"a zone and a tab, which separates nothing", "TZ=UTC\t@hourly", true},
		{"a zone that leads to files", "TZ=../../etc/passwd 0 6 * * *", true},
		{"a zone that is a path", "TZ=/etc/passwd 0 6 * * *", true},
		{"a zone on another planet", "TZ=Mars/Olympus 0 6 * * *", true},
		{"a zone twice", "TZ=UTC TZ=UTC 0 6 * * *", true},
		{"four fields", "0 6 * *", true},
		{"six fields: seconds are not supported", "0 0 6 * * *", true},
		{"a minute too late", "60 6 * * *", true},
		{"a negative one", "-1 6 * * *", true},
		{"day 0", "0 6 0 * *", true},
		{"a step of nothing", "*/0 6 * * *", true},
		{"a step that is huge", "*/99999999999999999999 6 * * *", true},
		{"a range that goes back", "30-10 6 * * *", true},
		{"an unknown word", "@sometimes", true},
		{"a duration that is not valid", "@every soon", true},
		{"a number that looks like one", "０ 6 * * *", true},
		{"control characters", "0\x006 * * * *", true},
		{"two question marks", "0 6 ?? * *", true},
		{"a question mark, which is a star for days", "0 6 ? * *", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			schedule, err := Schedule(test.spec)
			if (err != nil) != test.wrong {
				t.Fatalf("%v", err)
			}
			if err != nil {
				return
			}
			now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
			if next := schedule.Next(now); !next.IsZero() && next.Sub(now) < time.Second {
				t.Errorf("comes at once again: %v", next)
			}
		})
	}
}

// TestLongSchedules: a long schedule is refused, or accepted, in no time.
func TestLongSchedules(t *testing.T) {
	for reason, spec := range map[string]string{
		"many fields": strings.Repeat("* ", 100_000),
		"a long list": strings.Repeat("1,", 100_000) + "1 6 * * *",
		"a long word": "@" + strings.Repeat("x", 1_000_000),
		"a long zone": "TZ=" + strings.Repeat("x/", 100_000) + " 0 6 * * *",
	} {
		t.Run(reason, func(t *testing.T) {
			began := time.Now()
			_, _ = Schedule(spec) // either will do
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

// repeated is what a check says about an Installation that is repeated so.
func repeated(t *testing.T, automatic string) string {
	t.Helper()
	inst := &v1alpha1.Installation{}
	text := "{metadata: {name: a}, spec: {blueprint: {inline: {filesystem: {}}}, automaticReconcile: " + automatic + "}}"
	if err := yaml.Unmarshal([]byte(text), inst); err != nil {
		t.Fatal(err)
	}
	if errs := Installation(inst, nil); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	return ""
}

func TestRepetition(t *testing.T) {
	for _, test := range []struct{ reason, automatic, want string }{
		{"an Installation without settings", "{}", ""},
		{"usual settings", "{succeededReconcile: {}, failedReconcile: {numberOfReconciles: 3}}", ""},
		{"interval and schedule, which is decided elsewhere", "{succeededReconcile: {cronSpec: '@daily', interval: 1h}}", ""},
		{"an empty schedule counts as none", "{succeededReconcile: {cronSpec: ''}}", ""},
		{"a wrong schedule names its field and what to write", "{succeededReconcile: {cronSpec: daily}}", "spec.automaticReconcile.succeededReconcile.cronSpec: Invalid value: \"daily\": use five fields"},
		{"a wrong schedule after a failure", "{failedReconcile: {cronSpec: 99 * * * *}}", "spec.automaticReconcile.failedReconcile.cronSpec: Invalid value"},
		{"an interval without a unit", "{failedReconcile: {interval: 90}}", "spec.automaticReconcile.failedReconcile.interval: Invalid value: \"90\": it is not a duration"},
		{"an interval that is a list", "{succeededReconcile: {interval: [1h]}}", "spec.automaticReconcile.succeededReconcile.interval: Invalid value"},
		{"an interval longer than time", "{succeededReconcile: {interval: 9999999999999h}}", "spec.automaticReconcile.succeededReconcile.interval: Invalid value"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := repeated(t, test.automatic); test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTargetMapKeys: a key becomes the name of a label and a part of object names.
func TestTargetMapKeys(t *testing.T) {
	for _, test := range []struct {
		reason, key string
		wrong       bool
	}{
		{"a letter", "a", false},
		{"a number", "1", false},
		{"dots and dashes inside", "eu-1.blue", false},
		{"as long as may be", strings.Repeat("k", 63), false},
		{"a key that is one character too long", strings.Repeat("k", 64), true},
		{"far too long", strings.Repeat("k", 1_000_000), true},
		{"nothing", "", true},
		{"a dash at the end", "a-", true},
		{"a dot at the beginning", ".a", true},
		{"a capital", "Blue", true},
		{"a line behind it", "blue\n", true},
		{"a letter that looks the same", "bluе", true},
		{"a direction", "blue\u202e", true},
		{"a path", "../a", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{Spec: v1alpha1.InstallationSpec{Blueprint: v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{}}}}
			inst.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "a", TargetMap: map[string]string{test.key: "t"}}}
			errs := Installation(inst, nil)
			if (len(errs) > 0) != test.wrong {
				t.Fatalf("%.300v", errs.ToAggregate())
			}
			if test.wrong && !strings.HasPrefix(errs[0].Field, "spec.imports.targets[0].targetMap[") {
				t.Errorf("the field is %.300s", errs[0].Field)
			}
		})
	}
}

// TestSourceNamespaces: only the administrator permits imports from another namespace.
func TestSourceNamespaces(t *testing.T) {
	sources := SourceNamespaces{"shared": {"team-a", ""}, "*": {"team-b"}, "": {"team-c"}}
	for _, test := range []struct {
		reason, source, namespace string
		want                      bool
	}{
		{"a namespace imports from itself without a permission", "", "team-z", true},
		{"a namespace imports from itself with a permission", "team-z", "team-z", true},
		{"allowed", "shared", "team-a", true},
		{"a source that is not allowed", "shared", "team-z", false},
		{"a source without permissions", "kube-system", "team-a", false},
		{"no wildcard stands for all sources", "kube-system", "team-b", false},
		{"the beginning of a name is not the name", "share", "team-a", false},
		{"capitals are other names", "Shared", "team-a", false},
		{"a space does not help", "shared ", "team-a", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := sources.Allows(test.source, test.namespace); got != test.want {
				t.Errorf("allowed: %v", got)
			}
		})
	}
	if (SourceNamespaces)(nil).Allows("shared", "team-a") {
		t.Error("without any word everything is allowed")
	}
}

// TestNameExpressions: a regular expression of a user is bounded before it runs.
func TestNameExpressions(t *testing.T) {
	for _, test := range []struct {
		reason, secret, shoot, want string
	}{
		{"none", "", "", ""},
		{"all", "*", "", ""},
		{"some", "", "^dev-.*$", ""},
		{"two expressions, of which one would be ignored", "*", "*", "spec: Forbidden: secretNameExpression and shootNameExpression are given together"},
		{"a star with a suffix is not a wildcard", "*a", "", "spec.secretNameExpression: Invalid value"},
		{"an expression that is not closed", "", "(", "spec.shootNameExpression: Invalid value"},
		{"a look-behind, which has no bound", "", "(a)\\1", "spec.shootNameExpression: Invalid value"},
		{"few letters that become millions of instructions", "((a{100}){100}){100}", "", "spec.secretNameExpression: Invalid value"},
		{"a long one", strings.Repeat("a", 20_000), "", "spec.secretNameExpression: Invalid value"},
		{"many groups", strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "", "spec.secretNameExpression: Invalid value"},
		{"bytes that are not a text", "\xff", "", "spec.secretNameExpression: Invalid value"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			sync := &v1alpha1.TargetSync{Spec: v1alpha1.TargetSyncSpec{SecretNameExpression: test.secret, ShootNameExpression: test.shoot}}
			got := ""
			if errs := TargetSync(sync); len(errs) > 0 {
				got = errs.ToAggregate().Error()
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %.300q, want %q", got, test.want)
			}
		})
	}
}

// TestPackedItems: the items of an Execution may be packed by any user, and hold anything.
func TestPackedItems(t *testing.T) {
	pack := func(text string) []byte {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, err := writer.Write([]byte(text))
		if err == nil {
			err = writer.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return packed.Bytes()
	}
	complete := pack(`[{"name":"a","type":"t"}]`)
	for _, test := range []struct {
		reason string
		packed []byte
		want   string
	}{
		{"items", complete, ""},
		{"none", pack(`[]`), ""},
		{"null is not a list", pack(`null`), ""},
		{"checked like the others", pack(`[{"name":"a"}]`), "spec.deployItems[0].type: Required value"},
		{"nothing that is packed", []byte("Tr0ubador"), "spec.deployItemsCompressed: Forbidden"},
		{"the beginning of something packed", complete[:len(complete)-6], "spec.deployItemsCompressed: Forbidden"},
		{"something behind it", append(bytes.Clone(complete), "Tr0ubador"...), "spec.deployItemsCompressed: Forbidden"},
		{"an object in place of a list", pack(`{"Tr0ubador":1}`), "spec.deployItemsCompressed: Forbidden"},
		{"nothing", pack(""), "spec.deployItemsCompressed: Forbidden"},
		{"far more than it looks", bytes.Repeat(pack(strings.Repeat(" ", 1<<20)), 65), "bytes after decompression"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec := &v1alpha1.Execution{}
			exec.Spec.DeployItemsCompressed = test.packed
			got := ""
			if errs := Execution(exec); len(errs) > 0 {
				got = errs.ToAggregate().Error()
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) || strings.Contains(got, "Tr0ub") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestManyItems: the search for cycles among as many items as fit takes no noticeable time.
func TestManyItems(t *testing.T) {
	const count = 5000
	items := make(v1alpha1.DeployItemTemplateList, count)
	for i := range items {
		items[i] = v1alpha1.DeployItemTemplate{Name: fmt.Sprint("i", i), Type: "t"}
		for other := max(0, i-10); other < i; other++ {
			items[i].DependsOn = append(items[i].DependsOn, fmt.Sprint("i", other))
		}
	}
	if errs := DeployItemTemplates(items, nil); len(errs) > 0 {
		t.Errorf("a long row is refused: %.300v", errs.ToAggregate())
	}
	items[0].DependsOn = []string{fmt.Sprint("i", count-1)}
	if errs := DeployItemTemplates(items, nil); len(errs) != 1 || !strings.Contains(errs[0].Detail, "in a cycle") {
		t.Errorf("one cycle: %.300v", errs.ToAggregate())
	}
}
