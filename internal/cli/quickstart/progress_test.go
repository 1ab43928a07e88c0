package quickstart

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// liar is a cluster whose one object says what is to act on a terminal.
type liar struct {
	client.WithWatch
	object *unstructured.Unstructured
}

func (l liar) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.SetResourceVersion("1")
	list.(*unstructured.UnstructuredList).Items = []unstructured.Unstructured{*l.object}
	return nil
}

// Watch begins with no objects: a list comes first.
func (l liar) Watch(_ context.Context, _ client.ObjectList, given ...client.ListOption) (watch.Interface, error) {
	options := (&client.ListOptions{}).ApplyOptions(given)
	if options.Raw != nil && options.Raw.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ReplicaSet"}, "l", nil)
	}
	return watch.NewFake(), nil
}

// firstLine ends a wait when it has said something.
type firstLine struct {
	text strings.Builder
	stop context.CancelFunc
}

func (f *firstLine) Write(text []byte) (int, error) {
	f.stop()
	return f.text.Write(text)
}

// TestProgressOfALiar: what a cluster says about a rollout is repeated, and does nothing.
func TestProgressOfALiar(t *testing.T) {
	replicas := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": map[string]any{"name": "l", "namespace": "n", "generation": int64(1), "resourceVersion": "1"},
		"spec":   map[string]any{"replicas": int64(1)},
		"status": map[string]any{"observedGeneration": int64(1), "conditions": []any{map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no\x1b[2J\u202e way"}}},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	progress := &firstLine{stop: cancel}
	streams := (&terminaltest.Console{}).Streams()
	streams.Err = progress
	err := wait(ctx, streams, liar{object: replicas}, []*unstructured.Unstructured{replicas}, 0)
	if err == nil {
		t.Fatal("it is not rolled out")
	}
	if said := progress.text.String(); !strings.Contains(said, "waiting for ReplicaSet l: ") || strings.ContainsFunc(strings.TrimSuffix(said, "\n"), terminal.Controls) {
		t.Errorf("%q", said)
	}
}
