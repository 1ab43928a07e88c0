package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func named(name string, changes ...func(*v1alpha1.Installation)) *v1alpha1.Installation {
	i := object("Succeeded", changes...)
	i.Name = name
	return i
}

func partOf(parent string) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) {
		i.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
	}
}

func ownedBy(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name}}
}

func execution(name string, changes ...func(*v1alpha1.Execution)) *v1alpha1.Execution {
	e := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}}
	e.Status = v1alpha1.ExecutionStatus{ExecutionPhase: "Succeeded", JobID: "j2", JobIDFinished: "j2"}
	for _, change := range changes {
		change(e)
	}
	return e
}

func item(name, execution, phase string) *v1alpha1.DeployItem {
	d := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: execution}}}
	d.Status = v1alpha1.DeployItemStatus{Phase: v1alpha1.DeployItemPhase(phase), JobID: "j2", JobIDFinished: "j2"}
	return d
}

// outline writes a forest as one line: name(children).
func outline(nodes []*Node) string {
	var words []string
	for _, node := range nodes {
		word := node.Name
		if node.Orphaned {
			word += "!"
		}
		if node.State == Missing {
			word += "?"
		}
		if len(node.Children) > 0 {
			word += "(" + outline(node.Children) + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestForest(t *testing.T) {
	const landscaper = v1alpha1.GroupName + "/v1alpha1"
	tests := []struct {
		reason string
		given  Snapshot
		want   string
	}{
		{"nothing", Snapshot{}, ""},
		{"parts below their whole, by name, and the Execution last",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("z", partOf("a")), named("b", partOf("a")), named("a", func(i *v1alpha1.Installation) {
					i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "a"}
				})},
				Executions:  []*v1alpha1.Execution{execution("a")},
				DeployItems: []*v1alpha1.DeployItem{item("a-2", "a", "Succeeded"), item("a-1", "a", "Succeeded")},
			}, "a(b z a(a-1 a-2))"},
		{"older roots first, because users create them in the order in which they think of them",
			Snapshot{Installations: []*v1alpha1.Installation{
				named("a", func(i *v1alpha1.Installation) { i.CreationTimestamp = metav1.Unix(200, 0) }),
				named("z", func(i *v1alpha1.Installation) { i.CreationTimestamp = metav1.Unix(100, 0) }),
			}}, "z a"},
		{"the owner reference shows the connections that labels and status do not show yet",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("a"), named("b", func(i *v1alpha1.Installation) {
					i.OwnerReferences = ownedBy(landscaper, "Installation", "a")
				})},
				Executions: []*v1alpha1.Execution{execution("x", func(e *v1alpha1.Execution) { e.OwnerReferences = ownedBy(landscaper, "Installation", "a") })},
			}, "a(b x)"},
		{"an owner of another API is no parent",
			Snapshot{Installations: []*v1alpha1.Installation{named("a", func(i *v1alpha1.Installation) {
				i.OwnerReferences = ownedBy("example.com/v1", "Installation", "b")
			})}}, "a"},
		{"a reference to nothing, with items that are left",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("a", func(i *v1alpha1.Installation) {
					i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x", Namespace: "ns"}
				})},
				DeployItems: []*v1alpha1.DeployItem{item("left", "x", "Succeeded")},
			}, "a(x?(left))"},
		{"a subinstallation whose parent is deleted",
			Snapshot{Installations: []*v1alpha1.Installation{named("b", partOf("a")), named("c", partOf("b")), named("z")}}, "z b!(c)"},
		{"a cycle of labels is shown once",
			Snapshot{Installations: []*v1alpha1.Installation{named("a", partOf("b")), named("b", partOf("a"))}}, "a!(b)"},
		{"a part of itself", Snapshot{Installations: []*v1alpha1.Installation{named("a", partOf("a"))}}, "a!"},
		{"namesakes in other namespaces are strangers",
			Snapshot{Installations: []*v1alpha1.Installation{named("a"), named("b", partOf("a"), func(i *v1alpha1.Installation) { i.Namespace = "other" })}}, "a b!"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outline(Forest(test.given))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTreeOfPart(t *testing.T) {
	snapshot := Snapshot{Installations: []*v1alpha1.Installation{
		named("a", func(i *v1alpha1.Installation) { i.Status.JobID = "j3" }), named("b", partOf("a")), named("c", partOf("b")),
	}}
	part := Tree(snapshot, "ns", "b")
	if got := outline([]*Node{part}); got != "b(c)" {
		t.Errorf("tree of b: %s", got)
	}
	if part.Outdated || part.Orphaned || part.Children[0].Outdated {
		t.Error("a tree is measured by the job of its own root")
	}
	if !Tree(snapshot, "ns", "a").Children[0].Outdated {
		t.Error("b has not received the job of a")
	}
	if Tree(snapshot, "other", "a") != nil {
		t.Error("there is no a in the other namespace")
	}
}

// TestTreeOfUpdate: an object that a job for values alone does not reach is not outdated.
func TestTreeOfUpdate(t *testing.T) {
	in := func(jobID string, update *v1alpha1.DataUpdate) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.JobID, i.Status.DataUpdate = jobID, update }
	}
	of := func(e *v1alpha1.Execution) {
		e.OwnerReferences = ownedBy(v1alpha1.GroupVersion.String(), "Installation", e.Name)
	}
	older := func(e *v1alpha1.Execution) { e.Status.JobID = "j1" }
	early := func(name, of string) *v1alpha1.DeployItem {
		d := item(name, of, "Succeeded")
		d.Status.JobID = "j1"
		return d
	}
	stays := &v1alpha1.DataUpdate{Installations: []string{"root", "from"}, Unchanged: true}
	tree := Tree(Snapshot{
		Installations: []*v1alpha1.Installation{
			named("root", in("j2", stays)), named("from", partOf("root"), in("j2", stays)), named("other", partOf("root"), in("j2", stays)), named("below", partOf("other"), in("j1", nil)),
			named("importing", partOf("root"), in("j2", &v1alpha1.DataUpdate{})), named("waiting", partOf("root"), in("j1", nil)),
		},
		Executions: []*v1alpha1.Execution{execution("root", of, older), execution("from", of), execution("other", of, older), execution("importing", of)},
		DeployItems: []*v1alpha1.DeployItem{
			early("of-from", "from"), early("of-other", "other"), early("of-importing", "importing"),
		},
	}, "ns", "root")
	var outdated []string
	tree.Walk(func(n *Node) {
		if n.Outdated {
			outdated = append(outdated, string(n.Kind)+" "+n.Name)
		}
	})
	slices.Sort(outdated)
	want := []string{"DeployItem of-importing", "Execution root", "Installation waiting"}
	if diff := cmp.Diff(want, outdated); diff != "" {
		t.Errorf("outdated, -want +got\n%s", diff)
	}
}

func TestBlockers(t *testing.T) {
	job := func(e *v1alpha1.Execution) { e.Status.ExecutionPhase, e.Status.JobIDFinished = "Progressing", "" }
	atWork := func(name, phase string) *v1alpha1.DeployItem {
		d := item(name, "a", phase)
		d.Status.JobIDFinished = ""
		return d
	}
	old := item("a-old", "a", "Failed")
	old.Status.JobID, old.Status.JobIDFinished = "j1", "j1"
	reference := func(i *v1alpha1.Installation) { i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "a"} }
	inPhase := func(phase string) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.InstallationPhase = v1alpha1.InstallationPhase(phase) }
	}
	because := func(reason string) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.LastError = &v1alpha1.Error{Reason: reason} }
	}
	tests := []struct {
		reason string
		given  Snapshot
		want   string
	}{
		{"a ready object has no blocker", Snapshot{Installations: []*v1alpha1.Installation{named("a")}}, ""},
		{"the root itself, if there is nothing below", Snapshot{Installations: []*v1alpha1.Installation{named("a", inPhase("Init"), running)}}, "a"},
		{"the lowest objects, the worst first",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("a", inPhase("Progressing"), running, reference)},
				Executions:    []*v1alpha1.Execution{execution("a", job)},
				DeployItems:   []*v1alpha1.DeployItem{atWork("a-1", "Progressing"), item("a-2", "a", "Failed"), item("a-3", "a", "Succeeded")},
			}, "a-2 a-1"},
		{"the cause among subinstallations, through all levels, and not what follows from it",
			Snapshot{Installations: []*v1alpha1.Installation{
				named("a", inPhase("Failed")), named("b", partOf("a"), inPhase("Failed")), named("b-1", partOf("b"), inPhase("Failed")),
				named("b-2", partOf("b"), inPhase("Failed"), because("AllPredecessorsSucceeded")), named("c", partOf("a"), inPhase("Failed"), because("AllPredecessorsSucceeded")),
			}}, "b-1"},
		{"an object that works, and not the one that waits for it",
			Snapshot{Installations: []*v1alpha1.Installation{
				named("a", inPhase("Progressing"), running), named("b", partOf("a"), inPhase("Progressing"), running), named("c", partOf("a"), inPhase("Init"), running, because("AllPredecessorsFinished")),
			}}, "b"},
		{"a waiting object blocks if no other object does",
			Snapshot{Installations: []*v1alpha1.Installation{
				named("a", inPhase("Progressing"), running), named("c", partOf("a"), inPhase("Init"), running, because("AllPredecessorsFinished")),
			}}, "c"},
		{"an object that the job has not reached is not a blocker",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("a", inPhase("Progressing"), running, reference)},
				Executions:    []*v1alpha1.Execution{execution("a", job, func(e *v1alpha1.Execution) { e.Status.ExecutionPhase = "Init" })},
				DeployItems:   []*v1alpha1.DeployItem{old},
			}, "a"},
		{"a deployer blocks that does not pick up the item whose turn it is",
			Snapshot{
				Installations: []*v1alpha1.Installation{named("a", inPhase("Progressing"), running, reference)},
				Executions:    []*v1alpha1.Execution{execution("a", job)},
				DeployItems:   []*v1alpha1.DeployItem{old},
			}, "a-old"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := outline(leaves(Blockers(Tree(test.given, "ns", "a")))); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func leaves(nodes []*Node) []*Node {
	var bare []*Node
	for _, node := range nodes {
		bare = append(bare, &Node{Name: node.Name})
	}
	return bare
}

// BenchmarkForest counts what a tree costs: allocations must grow with the
// objects, not with their square.
func BenchmarkForest(b *testing.B) {
	for _, size := range []int{100, 1000} {
		snapshot := Snapshot{Installations: []*v1alpha1.Installation{named("a")}}
		for i := range size {
			name := fmt.Sprintf("a-%d", i)
			snapshot.Installations = append(snapshot.Installations, named(name, partOf("a"), func(i *v1alpha1.Installation) {
				i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: name}
			}))
			snapshot.Executions = append(snapshot.Executions, execution(name))
			snapshot.DeployItems = append(snapshot.DeployItems, item(name, name, "Succeeded"))
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Forest(snapshot)
			}
		})
	}
}
