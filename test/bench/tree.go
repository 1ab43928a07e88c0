package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// Tree is the measurement of a root with subinstallations.
type Tree struct {
	Subinstallations int     `json:"subinstallations"`
	Seconds          float64 `json:"seconds"`
	MillisEach       float64 `json:"msEach"`
	// RoundTrips is the time of each in status writes of one client, one after the
	// other, measured in the same run.
	RoundTrips   float64 `json:"roundTripsEach"`
	RequestsEach float64 `json:"requestsEach"`
	CPUMillis    float64 `json:"cpuMsEach"`
}

// newTree returns a root with subinstallations. In a chain, each imports what the one
// before exports; otherwise they have nothing to do with each other.
func newTree(namespace, name string, size int, chain bool) *v1alpha1.Installation {
	templates := make([]any, size)
	for i := range size {
		description := `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
exports: [{name: out, schema: {type: integer}}]
`
		template := map[string]any{
			"name":    fmt.Sprintf("part-%d", i),
			"exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": fmt.Sprintf("value-%d", i)}}},
		}
		value := "0"
		if chain && i > 0 {
			description += "imports: [{name: in, schema: {type: integer}}]\n"
			template["imports"] = map[string]any{"data": []any{map[string]any{"name": "in", "dataRef": fmt.Sprintf("value-%d", i-1)}}}
			value = "{{ add1 .imports.in }}"
		}
		description += "exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {out: " + value + "}'}]\n"
		template["blueprint"] = map[string]any{"filesystem": map[string]any{"blueprint.yaml": description}}
		// The order in the blueprint says nothing.
		templates[size-1-i] = template
	}
	root := newInstallation(namespace, name)
	root.Spec.Imports = v1alpha1.InstallationImports{}
	text, err := json.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Blueprint", "subinstallations": templates})
	if err != nil {
		panic(fmt.Sprintf("templates cannot be encoded: %v", err))
	}
	root.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(files(string(text)))
	return root
}

// tree brings up a tree.
func (b *bench) tree(ctx context.Context, size int, chain bool) (*Tree, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return nil, err
	}
	trip, err := b.roundTrip(ctx, space, 100)
	if err != nil {
		return nil, err
	}
	events, err := b.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space), client.MatchingFields{"metadata.name": "tree"})
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	counted, err := b.count(ctx)
	if err != nil {
		return nil, err
	}
	cpu, err := b.server.CPU()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := b.admin.Create(ctx, newTree(space, "tree", size, chain)); err != nil {
		return nil, err
	}
	for event := range events.ResultChan() {
		inst, ok := event.Object.(*v1alpha1.Installation)
		if !ok || inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
			continue
		}
		if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			return nil, fmt.Errorf("the tree: %+v", inst.Status.LastError)
		}
		return b.grown(ctx, size, time.Since(began), trip, counted, cpu)
	}
	return nil, ctx.Err()
}

// roundTrip returns how long a status write takes, one after the other.
func (b *bench) roundTrip(ctx context.Context, space string, count int) (time.Duration, error) {
	inst := newInstallation(space, "round-trip")
	inst.Annotations = nil
	if err := b.admin.Create(ctx, inst); err != nil {
		return 0, err
	}
	began := time.Now()
	for i := range count {
		inst.Status.LastError = &v1alpha1.Error{Message: fmt.Sprint(i), LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now()}
		if err := b.admin.Status().Update(ctx, inst); err != nil {
			return 0, err
		}
	}
	return time.Since(began) / time.Duration(count), nil
}

// grown sums up what a tree has cost.
func (b *bench) grown(ctx context.Context, size int, took, trip time.Duration, counted *landscape.Count, cpuBefore time.Duration) (*Tree, error) {
	cpu, err := b.server.CPU()
	if err != nil {
		return nil, err
	}
	counts, err := b.requests(ctx, counted)
	if err != nil {
		return nil, err
	}
	each := took / time.Duration(size)
	return &Tree{
		Subinstallations: size, Seconds: took.Seconds(), MillisEach: float64(each.Microseconds()) / 1000,
		RoundTrips: float64(each) / float64(trip), RequestsEach: float64(total(counts)) / float64(size),
		CPUMillis: float64((cpu - cpuBefore).Microseconds()) / 1000 / float64(size),
	}, nil
}
