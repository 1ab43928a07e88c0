package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/telemetry/metrics"
	"go.landscaper.dev/internal/telemetry/tracing"
)

// addTraces exports jobs, and the requests that they make, as traces.
func addTraces(ctx context.Context, to manager.Manager, endpoint string, jobs *metrics.Jobs) error {
	tracer, err := tracing.New(ctx, endpoint, version.String(), to.GetLogger().WithName("traces"))
	if err != nil {
		return err // says what it did
	}
	jobs.OnEnd, traffic.OnRequest = tracer.RecordJob, tracer.RecordRequest
	if err := to.Add(manager.RunnableFunc(tracer.Run)); err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	return nil
}
