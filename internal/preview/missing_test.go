package preview

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/inspect"
)

// TestMissingImport: a plan knows less of a root that would wait for an exporter, and a root that
// would fail has no plan.
func TestMissingImport(t *testing.T) {
	const lacks = `a job would fail: spec.imports.data[0].dataRef: import in-x: there is no DataObject "x" in namespace n: `
	inPhase := func(jobID, finished string, phase v1alpha1.InstallationPhase) func(*v1alpha1.Installation) {
		return func(inst *v1alpha1.Installation) {
			inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = jobID, finished, phase
		}
	}
	for _, test := range []struct {
		reason     string
		change     func(exporter *v1alpha1.Installation)
		waits, err string
	}{
		{"the exporter is at work", inPhase("b", "a", "Progressing"), `waiting for Installation by, which exports DataObject "x" for import in-x`, ""},
		{"the exporter has failed", inPhase("a", "a", "Failed"), "", lacks + "Installation by exports it, and has failed"},
		{"the exporter has had no job", inPhase("", "", ""), "", lacks + "Installation by exports it, and has had no job yet: run landscaper-cli installations reconcile by"},
		{"the exporter exports something else", func(inst *v1alpha1.Installation) {
			inPhase("b", "a", "Progressing")(inst)
			inst.Spec.Exports = v1alpha1.InstallationExports{}
		}, "", lacks + "create it, or correct the reference"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			by, dependent := testbuilders.Root(t, "by", nil, []string{"x"}), testbuilders.Root(t, "dep", []string{"x"}, nil)
			by.Namespace, dependent.Namespace = "n", "n"
			test.change(by)
			p := &Previewer{Reader: fakeapi.New(t, by, dependent), Now: time.Now}
			got, err := p.Of(t.Context(), rootNode(dependent), []*inspect.Node{rootNode(by), rootNode(dependent)})
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Waiting) != 1 || got.Waiting[0].Path != "dep" || !strings.HasPrefix(got.Waiting[0].Reason, test.waits) || got.Summary.Unknown != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestEnds: a plan that is not wanted any more, or takes too long, is no plan in which much is unknown.
func TestEnds(t *testing.T) {
	inst := testbuilders.Root(t, "root", nil, nil)
	inst.Namespace = "n"
	inst.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON([]byte(`{"blueprint.yaml": "imports: []"}`))}
	p := &Previewer{Reader: fakeapi.New(t, inst), Now: time.Now}
	if plan, err := p.Of(t.Context(), rootNode(inst), []*inspect.Node{rootNode(inst)}); err != nil || plan.Digest == "" {
		t.Fatalf("%+v, %v", plan, err)
	}
	left := errors.New("the page was left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	if plan, err := p.Of(ctx, rootNode(inst), []*inspect.Node{rootNode(inst)}); plan != nil || !errors.Is(err, left) {
		t.Errorf("%+v, %v", plan, err)
	}
}
