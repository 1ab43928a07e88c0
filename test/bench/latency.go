package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// oneByOne is how many Installations are brought up one after the other.
const oneByOne = 40

// latencies measure how long single Installations take on an idle lab, also in the time that one
// client needs for a status write, which is measured before and after.
func latencies(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	space, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	before, err := b.roundTrip(ctx, space, "before", 100)
	if err != nil {
		return err
	}
	times, err := b.oneAfterTheOther(ctx, space, oneByOne)
	if err != nil {
		return err
	}
	after, err := b.roundTrip(ctx, space, "after", 100)
	if err != nil {
		return err
	}
	median := times[len(times)/2]
	r.measured("latency: median", milliseconds(median), "ms")
	r.measured("latency: 90 %", milliseconds(times[len(times)*9/10]), "ms")
	r.measured("latency: one round trip", milliseconds((before+after)/2), "ms")
	r.measured("latency: median in round trips", float64(median)/float64((before+after)/2), "", atMost(12))
	return nil
}

func milliseconds(duration time.Duration) float64 { return duration.Seconds() * 1000 }

// oneAfterTheOther brings up Installations and returns how long each took, in order.
func (b *bench) oneAfterTheOther(ctx context.Context, space string, count int) ([]time.Duration, error) {
	events, err := b.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space))
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	times := []time.Duration{}
	for i := range count {
		began, name := time.Now(), fmt.Sprintf("single-%d", i)
		if err := b.admin.Create(ctx, newInstallation(space, name)); err != nil {
			return nil, err
		}
		for event := range events.ResultChan() {
			inst, ok := event.Object.(*v1alpha1.Installation)
			if !ok || inst.Name != name || inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
				continue
			}
			if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
				return nil, fmt.Errorf("installation %s: %+v", inst.Name, inst.Status.LastError)
			}
			times = append(times, time.Since(began))
			break
		}
	}
	if len(times) < count {
		return nil, errors.New("the watch ended")
	}
	slices.Sort(times)
	return times, nil
}

// roundTrip returns how long a status write takes, one after the other.
func (b *bench) roundTrip(ctx context.Context, space, name string, count int) (time.Duration, error) {
	inst := newInstallation(space, "round-trip-"+name)
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
