package deployer

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/responsibility"
)

// TestSecondTarget shows that a second Target that is missing is waited for, and that its creation
// enqueues only the items that have asked for it.
func TestSecondTarget(t *testing.T) {
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		_, err := item.ClusterOf(ctx, "edge")
		return Done(), err
	}}, newItem())
	s.look()
	s.expect("Progressing", false, "Target ns/edge does not exist: create it, or correct targetName")
	tests := []struct {
		reason          string
		namespace, name string
		want            bool
	}{
		{"the Target that was asked for", "ns", "edge", true},
		{"another Target", "ns", "other", false},
		{"a Target of another namespace", "other", "edge", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace, Name: test.name}}
			requests := s.reconciler.usersOf(target)
			if signalled := len(requests) == 1 && requests[0].NamespacedName == key; signalled != test.want {
				t.Errorf("enqueued: %v", requests)
			}
		})
	}
	if s.look(); len(s.script.calls) != 2 {
		t.Errorf("the deployer was called %d times", len(s.script.calls))
	}
	s.script.reconcile = nil
	s.reconciler.requeue(key)
	s.look()
	if users := s.reconciler.memory.users(need{targetKind, types.NamespacedName{Namespace: "ns", Name: "edge"}}); !slices.Equal(users, nil) {
		t.Errorf("after the end of the job %v still wait", users)
	}
}

// TestSecondTargetIsSelected shows that the administrator's limits count for all Targets
// of an item.
func TestSecondTargetIsSelected(t *testing.T) {
	edge := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "edge", Labels: map[string]string{"zone": "south"}}}
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		_, err := item.ClusterOf(ctx, "edge")
		return Done(), err
	}}, newItem(), edge)
	selectors, err := responsibility.New([]v1alpha1.TargetSelector{{Labels: []v1alpha1.Requirement{{Key: "zone", Operator: "in", Values: []string{"north"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.reconciler.selectors = selectors
	s.look()
	s.expect("Failed", true, "Target ns/edge is not for this deployer")
	if last := s.item().Status.LastError; last.Reason != "TargetNotSelected" || last.Codes[0] != v1alpha1.ErrorConfigurationProblem {
		t.Errorf("last error %+v", last)
	}
}

// TestNameOfTarget: what an Installation imports has a copy with a name that means nothing.
func TestNameOfTarget(t *testing.T) {
	target := func(name string, labels map[string]string) *v1alpha1.Target {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}}
	}
	generated := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "second")
	var got []string
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		for _, name := range []string{"edge", "copy", "element", "entry", "missing", generated} {
			got = append(got, item.NameOfTarget(ctx, name))
		}
		return Done(), nil
	}}, newItem(), target("edge", nil), target(generated, map[string]string{v1alpha1.DataObjectKeyLabel: "second"}), target("copy", map[string]string{v1alpha1.DataObjectKeyLabel: "second"}),
		target("element", map[string]string{v1alpha1.DataObjectKeyLabel: "list", v1alpha1.DataObjectIndexLabel: "0"}),
		target("entry", map[string]string{v1alpha1.DataObjectKeyLabel: "map", v1alpha1.DataObjectTargetMapKeyLabel: "blue"}))
	s.look()
	if want := []string{"edge", "second", "list[0]", "map[blue]", "missing", "second (" + generated + ")"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSecondTargetIsGiven: the configuration of an item comes from a blueprint, whose author may name
// any Target of the namespace. The deployer goes by what the Installation has given.
func TestSecondTargetIsGiven(t *testing.T) {
	tests := []struct {
		reason, given string
		refused       string
	}{
		{"an item that a user has written names what it likes", "", ""},
		{"a Target that was given", `{"targets":["other","edge"]}`, ""},
		{"a Target of the namespace that was not given", `{"targets":["other"]}`, "names a Target in targetName that its Installation does not import"},
		{"no Target was given", `{}`, "names a Target in targetName that its Installation does not import"},
		{"what was given cannot be read", `{"targets":`, "cannot be read"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			edge := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "edge"}}
			s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
				_, err := item.ClusterOf(ctx, "edge")
				return Done(), err
			}}, newItem(func(item *v1alpha1.DeployItem) {
				if test.given != "" {
					item.Annotations = map[string]string{v1alpha1.GivenAnnotation: test.given}
				}
			}), edge)
			s.reconciler.options.Clusters = reachable()
			s.look()
			last := s.item().Status.LastError
			if test.refused == "" {
				if last == nil || last.Reason != "ValidateTarget" {
					t.Fatalf("the Target is not looked at: %+v", last)
				}
				return
			}
			if last == nil || !strings.Contains(last.Message, test.refused) || strings.Contains(last.Message, "edge") ||
				last.Reason != "TargetNotGiven" || s.item().Status.Phase != v1alpha1.DeployItemPhases.Failed {
				t.Fatalf("%s: %+v", s.item().Status.Phase, last)
			}
		})
	}
}
