package preview

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
)

// rootNode is a root as a tree has it.
func rootNode(inst *v1alpha1.Installation) *inspect.Node {
	return &inspect.Node{Kind: inspect.KindInstallation, Namespace: inst.Namespace, Name: inst.Name, Installation: inst}
}

// TestFollow: which roots get a job because of the exports of another one, and why that is
// not known.
func TestFollow(t *testing.T) {
	used := func(value string) func(*v1alpha1.Installation) {
		return func(inst *v1alpha1.Installation) {
			imports, err := dataflow.Read(context.Background(), inst, fixed{value: value})
			if err != nil {
				t.Fatal(err)
			}
			if inst.Status.ImportsHash, err = dataflow.ImportsHash(imports); err != nil {
				t.Fatal(err)
			}
		}
	}
	skips := func(inst *v1alpha1.Installation) {
		testbuilders.Alter(inst, testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"))
	}
	for _, test := range []struct {
		reason    string
		dependent func(*v1alpha1.Installation)
		optimized bool
		unknown   error
		follows   bool
		waits     string
	}{
		{"the importer has never had a job", nil, false, nil, true, ""},
		{"the last job of the importer has used another value", used(`"old"`), false, nil, true, ""},
		{"the last job of the importer has used the value", used(`"new"`), false, nil, false, ""},
		{"the importer wants no automatic jobs", skips, false, nil, false, ""},
		{"the exporter triggers no importers", nil, true, nil, false, ""},
		{"the value is known only when the job runs", used(`"old"`), false, errors.New("a Service gets its address"), false, "exports of by, which only the job can tell: a Service gets its address"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			by, dependent := testbuilders.Root(t, "by", nil, []string{"x"}), testbuilders.Importer(t, "dep", test.dependent)
			by.Namespace = dependent.Namespace
			if test.optimized {
				by.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
			}
			present, exported := testbuilders.DataOf("x", `"old"`), testbuilders.DataOf("x", `"new"`)
			present.Namespace, exported.Namespace = by.Namespace, by.Namespace
			reader := fakeapi.New(t, by, dependent, present)
			c := &comparison{Previewer: &Previewer{Reader: reader}, live: live{}, secrets: newSecrets(), future: newFuture(reader), known: map[string]*task{}}
			node := nodeOf(t, by)
			node.Unknown = test.unknown
			if test.unknown == nil {
				node.Exports = &plan.Exports{Exports: dataflow.Exports{DataObjects: []*v1alpha1.DataObject{exported}}}
			}
			if err := c.follow(t.Context(), node, []*inspect.Node{rootNode(by), rootNode(dependent)}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.follows, " "); (got == "dep") != test.follows {
				t.Errorf("%q follows", got)
			}
			var waits []string
			for _, waiting := range c.waiting {
				waits = append(waits, waiting.Reason)
			}
			if all := strings.Join(waits, " "); test.waits != "" && !strings.Contains(all, test.waits) {
				t.Errorf("it waits for %q", all)
			}
			if test.waits == "" && !test.follows && len(waits) > 0 {
				t.Errorf("it waits for %v", waits)
			}
		})
	}
}

// nodeOf is a root that was worked out.
func nodeOf(t *testing.T, inst *v1alpha1.Installation) *plan.Node {
	t.Helper()
	node := planned(t, "{name: server, type: known, target: {name: x}, config: {}}")
	*node.Installation() = *inst
	return node
}

// fixed reads the same value, whatever is imported.
type fixed struct {
	dataflow.Objects
	value string
}

// Data implements dataflow.Objects.
func (f fixed) Data(context.Context, dataflow.Object) (dataflow.DataImport, error) {
	return dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(f.value))}, nil
}

// TestFuture: after a job, there is what it has exported.
func TestFuture(t *testing.T) {
	present, exported := testbuilders.DataOf("x", `"old"`), testbuilders.DataOf("x", `"new"`)
	future := newFuture(fakeapi.New(t, present))
	if err := future.add(t.Context(), dataflow.Exports{DataObjects: []*v1alpha1.DataObject{exported}}); err != nil {
		t.Fatal(err)
	}
	found := &v1alpha1.DataObject{}
	if err := future.Get(t.Context(), client.ObjectKeyFromObject(exported), found); err != nil || string(found.Data.RawMessage) != `"new"` {
		t.Errorf("%s, %v", found.Data.RawMessage, err)
	}
}
