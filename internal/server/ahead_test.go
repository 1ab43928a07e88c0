package server

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// endless answers as a cache does: with a token for a next page, which is the same.
type endless struct{ client.Reader }

// List implements client.Reader.
func (endless) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := &client.ListOptions{}
	asked.ApplyOptions(options)
	if found, ok := list.(*v1alpha1.InstallationList); ok && asked.Limit == 0 {
		found.Items = []v1alpha1.Installation{{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "u"}}}
	}
	list.SetContinue("continue-not-supported")
	return nil
}

// TestWhole: a cache is read once, and whole.
func TestWhole(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	snapshot, err := reading.Collect(ctx, whole{endless{}}, "n")
	if err != nil {
		t.Fatal(err)
	}
	if tree := inspect.Tree(snapshot, "n", "shop"); tree == nil || len(inspect.Forest(snapshot)) != 1 {
		t.Errorf("found %+v", snapshot)
	}
}
