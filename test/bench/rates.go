package main

import (
	"context"
	"fmt"
	"time"
)

// idleTime is how long a server with nothing to do is watched.
const idleTime = 20 * time.Second

// rates compare how fast many Installations come, change and go with what the API server
// lets anybody do who writes the same objects and does nothing else, before and after.
func rates(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	sample, err := b.sample(ctx)
	if err != nil {
		return fmt.Errorf("take a sample: %w", err)
	}
	runs := map[int]float64{}
	for _, size := range []int{b.large / 5, b.large} {
		requests, err := b.rate(ctx, r, sample, size)
		if err != nil {
			return err
		}
		runs[size] = requests
	}
	r.counted("growth of requests (exponent)", exponent(runs[b.large/5], runs[b.large], b.large/5, b.large), "", atMost(1.05))
	return nil
}

// rate measures a crowd, and returns how many requests it has cost to come.
func (b *bench) rate(ctx context.Context, r *Report, sample *rawSample, size int) (float64, error) {
	name := fmt.Sprintf("N=%d: ", size)
	before, err := b.rawRateAlone(ctx, sample, size)
	if err != nil {
		return 0, fmt.Errorf("raw writes: %w", err)
	}
	crowd, err := b.newCrowd(ctx, size, newInstallation)
	if err != nil {
		return 0, err
	}
	end, err := b.profile(ctx, fmt.Sprint(size))
	if err != nil {
		return 0, err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	if err != nil {
		return 0, err
	}
	if err := end(); err != nil {
		return 0, err
	}
	again, err := crowd.again(ctx, crowd.succeeded())
	if err != nil {
		return 0, err
	}
	memory, err := b.server.PeakMemory()
	if err != nil {
		return 0, err
	}
	left, err := crowd.leave(ctx)
	if err != nil {
		return 0, err
	}
	after, err := b.rawRateAlone(ctx, sample, size)
	if err != nil {
		return 0, fmt.Errorf("raw writes: %w", err)
	}
	limit := (before + after) / 2
	r.measured(name+"as fast as raw writes of the same objects", 100*came.perSecond()/limit, "%", atLeast(75))
	r.measured(name+"raw writes before and after, of Installations", limit, "/s")
	r.measured(name+"first half came at", 100*came.half.Seconds()/came.took.Seconds(), "%", atMost(50))
	r.measured(name+"deletion, as fast as they came is 100 %", 100*left.perSecond()/came.perSecond(), "%", atLeast(100))
	r.costs(name+"come: ", came, atMost(12))
	r.costs(name+"again: ", again, atMost(12))
	r.costs(name+"delete: ", left, atMost(12))
	r.measured(name+"server memory at most", float64(memory)/(1<<20), "MiB")
	return float64(len(came.requests)), nil
}

// costs adds what a phase has cost, of which our own CPU may have a goal.
func (r *Report) costs(name string, p phase, cpu ...budget) {
	r.measured(name+"Installations", p.perSecond(), "/s")
	r.measured(name+"server CPU", p.each(milliseconds(p.cpu)), "ms", cpu...)
	r.measured(name+"API server CPU", p.each(milliseconds(p.work.CPU)), "ms")
	r.measured(name+"writes wait for policies", p.each(milliseconds(p.work.Reviewing)), "ms")
	r.counted(name+"requests", p.each(float64(len(p.requests))), "")
	r.counted(name+"bytes written", p.each(p.work.Written), "B")
	r.counted(name+"bytes sent to watches", p.each(p.work.Sent), "B")
}

// rawRateAlone measures raw writes while no server is at work on them, and starts one.
func (b *bench) rawRateAlone(ctx context.Context, sample *rawSample, count int) (float64, error) {
	if err := b.stopServer(); err != nil {
		return 0, err
	}
	rate, err := b.rawRate(ctx, sample, count)
	if err != nil {
		return 0, err
	}
	return rate, b.startServer(ctx)
}
