package main

import (
	"context"
	"time"
)

// Run is the measurement of many Installations at once: they come up, are asked for
// another job when nothing has changed, rest, and go.
type Run struct {
	Installations   int     `json:"installations"`
	Flat            Phase   `json:"flat"`
	ShareOfLimit    float64 `json:"shareOfCalibratedLimit"`
	Again           Phase   `json:"again"`
	IdlePerMinute   float64 `json:"idleRequestsPerMinute"`
	Delete          Phase   `json:"delete"`
	MaxMemoryMBytes float64 `json:"serverMemoryMB"`
	// KiBPerTree is what the server takes for each settled tree: after a start with
	// them, and with hardly any garbage.
	KiBPerTree float64 `json:"kibPerSettledTree"`
}

// idleTime is how long a server with nothing to do is watched.
const idleTime = 20 * time.Second

// many measures Installations of one namespace.
func (b *bench) many(ctx context.Context, count int) (*Run, error) {
	before, err := b.settledMemory(ctx)
	if err != nil {
		return nil, err
	}
	crowd, err := b.newCrowd(ctx, count, newInstallation)
	if err != nil {
		return nil, err
	}
	run := &Run{Installations: count}
	if run.Flat, err = crowd.come(ctx, crowd.succeeded()); err != nil {
		return nil, err
	}
	if run.Again, err = crowd.again(ctx, crowd.succeeded()); err != nil {
		return nil, err
	}
	peak, err := b.server.PeakMemory()
	if err != nil {
		return nil, err
	}
	run.MaxMemoryMBytes = float64(peak) / (1 << 20)
	if run.IdlePerMinute, err = b.idle(ctx, idleTime); err != nil {
		return nil, err
	}
	after, err := b.settledMemory(ctx)
	if err != nil {
		return nil, err
	}
	run.KiBPerTree = float64(after-before) / (1 << 10) / float64(count)
	run.Delete, err = crowd.leave(ctx)
	return run, err
}

// settledMemory returns what a server that has just started takes when it has come to
// rest. It leaves a server with the usual settings behind.
func (b *bench) settledMemory(ctx context.Context) (int64, error) {
	const samples, pause = 20, 500 * time.Millisecond
	// Garbage is collected at once.
	if err := b.startServer(ctx, "GOGC=10"); err != nil {
		return 0, err
	}
	var least int64
	for range samples {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pause):
		}
		now, err := b.server.Memory()
		if err != nil {
			return 0, err
		}
		if least == 0 || now < least {
			least = now
		}
	}
	return least, b.startServer(ctx)
}
