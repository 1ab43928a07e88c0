package attacks

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// honest is the other tenant.
type honest struct {
	space string
	count int
	// usual is how long an Installation takes without an attack.
	usual time.Duration
}

// install brings up one small Installation and returns how long that took.
func (h *honest) install(t *testing.T) (time.Duration, error) {
	t.Helper()
	h.count++
	inst := landscape.NewInstallation(h.space, fmt.Sprint("honest-", h.count), landscape.OneConfigMap)
	ctx, cancel := context.WithTimeout(t.Context(), honestLimit)
	defer cancel()
	events, err := env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(h.space), client.MatchingFields{"metadata.name": inst.Name})
	if err != nil {
		return 0, err
	}
	defer events.Stop()
	began := time.Now()
	if err := env.Admin.Create(ctx, inst); err != nil {
		return 0, err
	}
	for event := range events.ResultChan() {
		current, ok := event.Object.(*v1alpha1.Installation)
		if !ok || current.Status.JobID == "" || current.Status.JobIDFinished != current.Status.JobID {
			continue
		}
		if current.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			return time.Since(began), fmt.Errorf("%s: %+v", inst.Name, current.Status.LastError)
		}
		return time.Since(began), nil
	}
	return time.Since(began), fmt.Errorf("%s has not succeeded after %s", inst.Name, time.Since(began).Round(time.Second))
}

// measure installs until the end is reached, a number of times at least.
func (h *honest) measure(t *testing.T, atLeast int, over func() bool) (times []time.Duration, err error) {
	t.Helper()
	for len(times) < atLeast || !over() {
		took, err := h.install(t)
		if times = append(times, took); err != nil {
			return times, err
		}
	}
	return times, nil
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
