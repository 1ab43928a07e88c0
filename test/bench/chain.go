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

// Chain is the measurement of subinstallations that hand a value from one to the next.
type Chain struct {
	Subinstallations int     `json:"subinstallations"`
	Seconds          float64 `json:"seconds"`
	MillisPerHop     float64 `json:"msPerHop"`
	// RoundTrips is the time of a hop in status writes of one client, one after the
	// other, measured in the same run.
	RoundTrips     float64 `json:"roundTripsPerHop"`
	RequestsPerHop float64 `json:"requestsPerHop"`
}

// newChain returns a root whose subinstallations import what the one before exports.
func newChain(namespace, name string, length int) *v1alpha1.Installation {
	templates := make([]any, length)
	for i := range length {
		description := `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
exports: [{name: out, schema: {type: integer}}]
`
		template := map[string]any{
			"name":    fmt.Sprintf("link-%d", i),
			"exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": fmt.Sprintf("value-%d", i)}}},
		}
		value := "0"
		if i > 0 {
			description += "imports: [{name: in, schema: {type: integer}}]\n"
			template["imports"] = map[string]any{"data": []any{map[string]any{"name": "in", "dataRef": fmt.Sprintf("value-%d", i-1)}}}
			value = "{{ add1 .imports.in }}"
		}
		description += "exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {out: " + value + "}'}]\n"
		template["blueprint"] = map[string]any{"filesystem": map[string]any{"blueprint.yaml": description}}
		// The order in the blueprint says nothing.
		templates[length-1-i] = template
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

// chain brings up a chain.
func (b *bench) chain(ctx context.Context, length int) (*Chain, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return nil, err
	}
	trip, err := b.roundTrip(ctx, space, 100)
	if err != nil {
		return nil, err
	}
	events, err := b.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space), client.MatchingFields{"metadata.name": "chain"})
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	counted, err := b.count(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := b.admin.Create(ctx, newChain(space, "chain", length)); err != nil {
		return nil, err
	}
	for event := range events.ResultChan() {
		inst, ok := event.Object.(*v1alpha1.Installation)
		if !ok || inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
			continue
		}
		if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			return nil, fmt.Errorf("the chain: %+v", inst.Status.LastError)
		}
		return b.chained(ctx, length, time.Since(began), trip, counted)
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

// chained sums up what a chain has cost.
func (b *bench) chained(ctx context.Context, length int, took, trip time.Duration, counted *landscape.Count) (*Chain, error) {
	counts, err := b.requests(ctx, counted)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	hop := took / time.Duration(length)
	return &Chain{
		Subinstallations: length, Seconds: took.Seconds(), MillisPerHop: float64(hop.Microseconds()) / 1000,
		RoundTrips: float64(hop) / float64(trip), RequestsPerHop: float64(total) / float64(length),
	}, nil
}
