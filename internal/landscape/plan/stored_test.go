package plan

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/plan/parcel"
	"go.landscaper.dev/internal/model/dataflow"
)

// testKey authenticates the plans of tests.
var testKey = parcel.Key("of the server")

type opens = func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*Component, error)

func opener(from *component.Session) opens {
	return func(ctx context.Context, definition *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
		return OpenComponent(ctx, from, definition)
	}
}

// reopened stores a plan as Secrets, and opens it from them.
func reopened(ctx context.Context, p *Plan, open opens) (*Reopened, error) {
	content, needed, err := p.Stored()
	if err != nil || !needed {
		return nil, err
	}
	inst := p.in.Installation
	if content, err = testKey.Content(inst, testKey.Secrets(inst, content)); err != nil {
		return nil, err
	}
	return Reopen(ctx, inst, content, Surroundings{Open: open, Functions: p.in.Functions, States: p.in.States})
}

// restart checks that the exports are the same if the server is started anew before
// they are worked out.
func restart(t *testing.T, p *Plan, results Results, open opens) {
	t.Helper()
	after, err := reopened(t.Context(), p, open)
	if err != nil {
		t.Error(err)
		return
	}
	live, liveErr := p.Exports(t.Context(), results)
	if after == nil {
		if liveErr != nil || len(live.Values)+len(live.DataObjects)+len(live.Targets)+len(live.States) > 0 {
			t.Errorf("nothing is stored, but there are exports: %+v, %v", live, liveErr)
		}
		return
	}
	got, err := after.Exports(t.Context(), results)
	if (err == nil) != (liveErr == nil) || err != nil && err.Error() != liveErr.Error() {
		t.Errorf("after a restart: %v, before: %v", err, liveErr)
		return
	}
	wantSame(t, "exports after a restart", got, live)
}

// restartAll does so for all Installations of a tree.
func restartAll(t *testing.T, tree *Tree, node *Node, from *component.Session) {
	t.Helper()
	if tree.Simulation.Replaces(node.Path) || len(node.Waiting) > 0 {
		return // what it exports was not worked out
	}
	scope := newScope(copiesOf(t, node))
	for _, sub := range node.Nodes {
		restartAll(t, tree, sub, from)
		if sub.Exports != nil {
			scope.add(sub.Exports.Exports)
		}
	}
	results, err := tree.results(t.Context(), node, scope)
	if err != nil {
		t.Fatal(err)
	}
	restart(t, planned(t, node.in), results, opener(from))
}

// exporting is an input of a job with exports.
func exporting(t testing.TB, executions string, files ...string) Input {
	t.Helper()
	in := input(t, imports+"exports: [{name: out, schema: {}}]\nexportExecutions:\n"+executions, files...)
	in.Installation.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "out"}}
	in.Installation.Status.JobID = "job-1"
	return in
}

func planned(t testing.TB, in Input) *Plan {
	t.Helper()
	p, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStoredIfNeeded: an Installation without exports costs no write.
func TestStoredIfNeeded(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*Input)
		want   bool
	}{
		{"no exports", func(*Input) {}, false},
		{"the blueprint declares some, but nothing gives them", func(in *Input) { in.Blueprint.Info.Exports = v1alpha1.ExportDefinitionList{{}} }, false},
		{"an export execution", func(in *Input) { in.Blueprint.Info.ExportExecutions = []v1alpha1.TemplateExecutor{{Name: "e"}} }, true},
		{"data", func(in *Input) { in.Installation.Spec.Exports.Data = []v1alpha1.DataExport{{}} }, true},
		{"a Target", func(in *Input) { in.Installation.Spec.Exports.Targets = []v1alpha1.TargetExport{{}} }, true},
		{"a mapping", func(in *Input) {
			in.Installation.Spec.ExportDataMappings = map[string]v1alpha1.AnyJSON{"a": v1alpha1.NewAnyJSON([]byte("1"))}
		}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := input(t, imports)
			test.change(&in)
			content, needed, err := planned(t, in).Stored()
			if err != nil || needed != test.want || (content != nil) != test.want {
				t.Errorf("%d bytes, %t, %v", len(content), needed, err)
			}
		})
	}
}

// TestReopen: whatever export executions use is as it was.
func TestReopen(t *testing.T) {
	for _, test := range []struct {
		reason, executions string
		files              []string
	}{
		{"imports", `- {name: e, type: GoTemplate, template: 'exports: {out: {size: {{ .imports.size }}, name: "{{ .imports.cluster.metadata.name }}"}}'}`, nil},
		{"the file of the execution", `- {name: e, type: Spiff, file: e.yaml}`, []string{"e.yaml", "exports: {out: (( imports.size ))}", "unused", "x"}},
		{"other files", `- {name: e, type: GoTemplate, template: 'exports: {out: {{ include "a/x.tpl" . }}}'}`, []string{"a/x.tpl", "{{ .imports.size }}"}},
		{"what an import execution has computed, integers and floats", "- {name: e, type: GoTemplate, template: 'exports: {out: \"{{ printf \"%T %T %T\" .imports.int .imports.whole .imports.float }}\"}'}\n" +
			"importExecutions: [{type: GoTemplate, template: 'bindings: {int: 1, whole: 1e0, float: 1.5}'}]", nil},
		{"without a name", `- {type: Spiff, template: {exports: {out: 1}}}`, nil},
		{"an error", `- {name: e, type: Spiff, template: {exports: {out: (( imports.none ))}}}`, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			restart(t, planned(t, exporting(t, test.executions, test.files...)), Results{DeployItems: map[string]any{"a": int64(1)}}, nil)
		})
	}
}

// TestReopenIsOfTheJob: nothing that changes while the job runs has an effect.
func TestReopenIsOfTheJob(t *testing.T) {
	in := exporting(t, `- {name: e, type: GoTemplate, template: 'exports: {out: {{ .imports.size }}}'}`)
	content, _, err := planned(t, in).Stored()
	if err != nil {
		t.Fatal(err)
	}
	now := in.Installation.DeepCopy()
	now.Spec.Exports.Data[0].DataRef, now.Generation = "renamed", 7
	in.Imports.Data["size"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte("4"))}
	after, err := Reopen(t.Context(), now, content, Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	exports, err := after.Exports(t.Context(), Results{})
	if err != nil || len(exports.DataObjects) != 1 || string(exports.DataObjects[0].Data.RawMessage) != "3" || exports.DataObjects[0].Labels[v1alpha1.DataObjectKeyLabel] != "out" {
		t.Errorf("%+v, %v", exports, err)
	}
}

// TestReopenComponent: the component is opened only if exports may read it, and must
// be the one of the job.
func TestReopenComponent(t *testing.T) {
	in := exporting(t, `- {name: e, type: GoTemplate, template: 'exports: {out: {{ .cd.component.version | quote }}}'}`)
	uses := exporting(t, `- {name: e, type: GoTemplate, template: 'exports: {out: {{ (getComponent .cd).component.version | quote }}}'}`)
	from := session(t)
	for _, in := range []*Input{&in, &uses} {
		in.Installation.Spec.ComponentDescriptor = reference("1.0.0")
		var err error
		if in.Component, err = OpenComponent(t.Context(), from, reference("1.0.0")); err != nil {
			t.Fatal(err)
		}
	}
	never := func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
		return nil, errors.New("the registry is down")
	}
	other := func(ctx context.Context, _ *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
		another := reference("2.0.0")
		another.Reference.ComponentName = "example.org/db"
		return OpenComponent(ctx, from, another)
	}
	if _, err := reopened(t.Context(), planned(t, in), never); err != nil {
		t.Errorf("a component that is not read is opened: %v", err)
	}
	for _, test := range []struct {
		reason string
		open   opens
		want   string
	}{
		{"an unchanged component", opener(from), ""},
		{"a component that cannot be reached", never, "component of the stored plan: the registry is down"},
		{"a component that has changed", other, "has changed since the job began: start another job"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := reopened(t.Context(), planned(t, uses), test.open); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// noise is text that cannot be compressed.
func noise(bytes int) string {
	random := rand.NewChaCha8([32]byte{})
	raw := make([]byte, bytes/2)
	_, _ = random.Read(raw)
	return fmt.Sprintf("%x", raw)
}

// TestStoredSize: large plans take several Secrets, and there is an end.
func TestStoredSize(t *testing.T) {
	for _, test := range []struct {
		reason  string
		bytes   int
		secrets int
	}{
		{"a small one", 100, 1},
		{"a document that does not fit into a Secret", 3 << 20, 2},
		{"a document that is too large", 2*parcel.MaxSize + 1<<20, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := exporting(t, `- {name: e, type: Spiff, template: {exports: {out: 1}}}`)
			in.Imports.Data["password"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"` + noise(test.bytes) + `"`))}
			p := planned(t, in)
			content, needed, err := p.Stored()
			if test.secrets == 0 {
				if !needed || !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "import less") || len(err.Error()) > 400 {
					t.Errorf("%t, %.500v", needed, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			secrets := testKey.Secrets(in.Installation, content)
			if len(secrets) != test.secrets {
				t.Errorf("%d Secrets", len(secrets))
			}
			for _, secret := range secrets {
				if secret.Size() > corev1.MaxSecretSize {
					t.Errorf("a Secret has %d bytes", secret.Size())
				}
			}
			restart(t, p, Results{}, nil)
		})
	}
}

// TestDecode: what a user with rights on the Secret could have written.
func TestDecode(t *testing.T) {
	in := exporting(t, `- {name: e, type: Spiff, template: {exports: {out: 1}}}`)
	content, _, err := planned(t, in).Stored()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, by string) []byte { return compressed(strings.Replace(string(text), old, by, 1)) }
	for _, test := range []struct {
		reason  string
		content []byte
		want    error
	}{
		{"as it is", compressed(string(text)), nil},
		{"not compressed", text, parcel.ErrDamaged},
		{"cut off", content[:len(content)/2], parcel.ErrDamaged},
		{"no JSON", compressed("hunter2"), parcel.ErrDamaged},
		{"another document", compressed("{}"), parcel.ErrDamaged},
		{"no version", replaced(`"version":1`, `"version":0`), parcel.ErrDamaged},
		{"a later version", replaced(`"version":1`, `"version":2,"new":{}`), ErrNewer},
		{"no bindings", replaced(`"bindings":{`, `"bindings":[],"x":{`), parcel.ErrDamaged},
		{"a bomb", compressed(strings.Repeat(" ", maxDocument+1)), parcel.ErrDamaged},
		{"another job", replaced(`"jobID":"job-1"`, `"jobID":"job-0"`), parcel.ErrOtherJob},
		{"another Installation", replaced(`"uid":"uid"`, `"uid":"other"`), parcel.ErrOtherJob},
		{"another namespace", replaced(`"namespace":"space"`, `"namespace":"other"`), parcel.ErrOtherJob},
		{"a file outside", replaced(`"info":`, `"files":{"../x":"eA=="},"info":`), parcel.ErrDamaged},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Reopen(t.Context(), in.Installation, test.content, Surroundings{})
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the content: %v", err)
			}
		})
	}
}

func compressed(text string) []byte {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	_, _ = writer.Write([]byte(text))
	_ = writer.Close()
	return buffer.Bytes()
}

// TestNumbersStay: templates tell an integer from a float, which JSON does not.
func TestNumbersStay(t *testing.T) {
	bindings := map[string]any{"list": []any{int64(1), 1.0, 1.5, 1e300, -2.0, 1e17, -1e20, 1e21, json.Number("123456789012345678901234567890")}, "none": nil, "yes": true}
	raw, err := encodeBindings(bindings)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := jsonvalue.FromJSON(raw); err != nil || !reflect.DeepEqual(got, any(bindings)) {
		t.Errorf("got %#v, %v", got, err)
	}
}
