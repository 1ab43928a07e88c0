package inspect

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func TestReach(t *testing.T) {
	at := func(second int64) *metav1.Time {
		stamp := metav1.Unix(second, 0)
		return &stamp
	}
	item := func(name string, kind v1alpha1.DeployItemType, change func(*v1alpha1.DeployItemStatus)) *Node {
		d := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: name}}
		d.Spec.Type, d.Status.JobID, d.Status.JobIDFinished = kind, "1", "1"
		change(&d.Status)
		node := &Node{Kind: KindDeployItem, Name: name, DeployItem: d}
		deployItemFacts(d).fill(node)
		return node
	}
	succeeded := func(second int64) func(*v1alpha1.DeployItemStatus) {
		return func(status *v1alpha1.DeployItemStatus) {
			status.Phase, status.TransitionTimes = v1alpha1.DeployItemPhases.Succeeded, &v1alpha1.TransitionTimes{FinishedTime: at(second)}
		}
	}
	failed := func(second int64, reason reasons.Reason) func(*v1alpha1.DeployItemStatus) {
		return func(status *v1alpha1.DeployItemStatus) {
			status.Phase, status.LastError = v1alpha1.DeployItemPhases.Failed, &v1alpha1.Error{Reason: string(reason), Message: "no", LastUpdateTime: *at(second)}
		}
	}
	const helm, mock = v1alpha1.HelmDeployItemType, v1alpha1.MockDeployItemType
	tests := []struct {
		reason string
		items  []*Node
		want   State
		by     string
	}{
		{"no item, no word", nil, "", ""},
		{"an item has succeeded", []*Node{item("a", helm, succeeded(5))}, Ready, "a"},
		{"the cluster does not answer any more", []*Node{item("a", helm, succeeded(5)), item("b", helm, failed(7, reasons.ClusterUnreachable))}, Failed, "b"},
		{"the cluster answers again", []*Node{item("b", helm, failed(7, reasons.Unauthorized)), item("a", helm, succeeded(9))}, Ready, "a"},
		{"at the same time, what is wrong counts", []*Node{item("b", helm, failed(7, reasons.Unauthorized)), item("a", helm, succeeded(7))}, Failed, "b"},
		{"a failure of another kind says nothing about the cluster", []*Node{item("a", helm, failed(7, reasons.InvalidConfiguration))}, "", ""},
		{"the mock asks no cluster", []*Node{item("a", mock, succeeded(5))}, "", ""},
		{"an item that runs has not shown anything", []*Node{item("a", helm, func(status *v1alpha1.DeployItemStatus) {
			status.JobID, status.Phase = "2", v1alpha1.DeployItemPhases.Progressing
		})}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := ReachOf(test.items)
			if got.State != test.want || (got.Item == nil) != (test.by == "") || got.Item != nil && got.Item.Name != test.by {
				t.Errorf("%+v", got)
			}
		})
	}
}
