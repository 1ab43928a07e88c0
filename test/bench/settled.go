package main

import (
	"context"
	"fmt"
	"time"
)

// atRest measures what many Installations cost that have come to rest: memory, the time of
// a restart, and what is requested meanwhile.
func atRest(ctx context.Context, b *bench, r *Report) error {
	before, _, err := b.settledMemory(ctx)
	if err != nil {
		return err
	}
	crowd, err := b.newCrowd(ctx, b.settled, newInstallation)
	if err != nil {
		return err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	if err != nil {
		return err
	}
	after, restart, err := b.settledMemory(ctx)
	if err != nil {
		return err
	}
	cpu, err := b.server.CPU()
	if err != nil {
		return err
	}
	idle, err := b.idle(ctx, idleTime)
	if err != nil {
		return err
	}
	idleCPU, err := b.server.CPU()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d at rest: ", b.settled)
	r.counted(name+"requests of each to come", came.each(float64(len(came.requests))), "")
	r.measured(name+"first half came at", 100*came.half.Seconds()/came.took.Seconds(), "%", atMost(50))
	r.measured(name+"memory of each", float64(after-before)/(1<<10)/float64(b.settled), "KiB", atMost(60))
	r.measured(name+"memory of the server", float64(after)/(1<<20), "MiB")
	r.measured(name+"restart until ready", restart.Seconds(), "s")
	r.counted(name+"requests per minute", idle, "", atMost(0))
	r.measured(name+"server CPU while idle", 100*(idleCPU-cpu).Seconds()/idleTime.Seconds(), "%")
	return nil
}

// settledMemory returns what a server that has just started takes when it has come to
// rest, and how long it took to start. It leaves a server with the usual settings behind.
func (b *bench) settledMemory(ctx context.Context) (memory int64, restart time.Duration, err error) {
	const samples, pause = 20, 500 * time.Millisecond
	// Garbage is collected at once.
	if err := b.startServer(ctx, "GOGC=10"); err != nil {
		return 0, 0, err
	}
	for range samples {
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-time.After(pause):
		}
		now, err := b.server.Memory()
		if err != nil {
			return 0, 0, err
		}
		if memory == 0 || now < memory {
			memory = now
		}
	}
	if err := b.stopServer(); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	err = b.startServer(ctx)
	return memory, time.Since(began), err
}
