package inspect

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestAwaited: which sibling an Installation waits for, by the rules of the controllers.
func TestAwaited(t *testing.T) {
	exports := func(name string) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) {
			i.Spec.Exports.Data = []v1alpha1.DataExport{{Name: name, DataRef: name}}
		}
	}
	imports := func(names ...string) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) {
			for _, name := range names {
				i.Spec.Imports.Data = append(i.Spec.Imports.Data, v1alpha1.DataImport{Name: name, DataRef: name})
			}
		}
	}
	follows := func(reason reasons.Reason) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.LastError = &v1alpha1.Error{Reason: string(reason)} }
	}
	phase := func(phase v1alpha1.InstallationPhase) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.InstallationPhase = phase }
	}
	above := named("p", running, phase("Progressing"))
	sub := func(name string, changes ...func(*v1alpha1.Installation)) *v1alpha1.Installation {
		return named(name, append([]func(*v1alpha1.Installation){partOf("p"), func(i *v1alpha1.Installation) {
			i.OwnerReferences = ownedBy(v1alpha1.GroupVersion.String(), "Installation", "p")
		}}, changes...)...)
	}
	waits := follows(reasons.AllPredecessorsFinished)
	leaves := func(i *v1alpha1.Installation) {
		running(i)
		deleting(i)
		phase("InitDelete")(i)
		follows(reasons.SiblingImport)(i)
	}
	for _, test := range []struct {
		reason       string
		parent, self *v1alpha1.Installation
		others       []*v1alpha1.Installation
		want         string
	}{
		{"an exporter that has not finished", above, sub("a", running, phase("Init"), imports("x"), waits), []*v1alpha1.Installation{sub("b", running, exports("x"))}, "b"},
		{"an exporter that has failed", above, sub("a", phase("Failed"), imports("x"), follows(reasons.AllPredecessorsSucceeded)), []*v1alpha1.Installation{sub("b", phase("Failed"), exports("x"))}, "b"},
		{"the second exporter is the one that has not finished", above, sub("a", running, phase("Init"), imports("x", "y"), waits), []*v1alpha1.Installation{sub("b", exports("x")), sub("c", running, exports("y"))}, "c"},
		{"a failure of its own", above, sub("a", phase("Failed"), imports("x"), follows(reasons.ImportsSatisfied)), []*v1alpha1.Installation{sub("b", phase("Failed"), exports("x"))}, ""},
		{"a deletion waits for an importer, not for an exporter", above, sub("a", leaves, imports("x"), exports("y")), []*v1alpha1.Installation{sub("b", running, exports("x")), sub("c", running, imports("y"))}, "c"},
		{"a root whose deletion waits for another root", nil, named("a", leaves, exports("y")), []*v1alpha1.Installation{named("c", running, imports("y"))}, "c"},
		{"a sibling that its parent does not want any more comes before no other", named("p", running, phase("Progressing"), leavesSub("b")), sub("a", running, phase("Init"), imports("x"), waits), []*v1alpha1.Installation{sub("b", running, exports("x"))}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			snapshot := Snapshot{Installations: append([]*v1alpha1.Installation{test.self}, test.others...)}
			if test.parent != nil {
				snapshot.Installations = append(snapshot.Installations, test.parent)
			}
			forest := Forest(snapshot)
			var parent *Node
			if test.parent != nil {
				parent, forest = forest[0], forest[0].Children
			}
			got := ""
			for _, node := range forest {
				if found := Awaited(node, parent, forest); node.Name == "a" && found != nil {
					got = found.Name
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
