// Package tracing reports jobs as OpenTelemetry traces: one for each job, with a span
// for each object that takes part and for its stages. All IDs follow from the ID of
// the job and the UIDs of the objects, so that the spans of all processes join without
// any field for it. Attributes hold names of objects and no values.
package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/telemetry/metrics"
)

// endLimit is how long a process that ends tries to send what is left.
const endLimit = 5 * time.Second

// Tracer records jobs that have ended.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a tracer that sends to an endpoint by OTLP over HTTP.
func New(ctx context.Context, endpoint, version string, log logr.Logger) (*Tracer, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Info("traces are not sent", "cause", err.Error()) }))
	address, err := url.JoinPath(endpoint, "v1", "traces")
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", endpoint, err)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", endpoint, err)
	}
	// It drops spans that do not fit into its queue: an absent collector delays no work.
	return newTracer(sdktrace.WithBatcher(exporter), version), nil
}

func newTracer(sends sdktrace.TracerProviderOption, version string) *Tracer {
	provider := sdktrace.NewTracerProvider(sends, sdktrace.WithIDGenerator(ids{}), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "landscaper"), attribute.String("service.version", version))))
	return &Tracer{provider: provider, tracer: provider.Tracer("go.landscaper.dev")}
}

// Run sends until the context ends.
func (t *Tracer) Run(ctx context.Context) error {
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	if err := t.provider.Shutdown(last); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// RecordJob records a job that has ended.
//
// A child is mostly recorded before its parent, which ends later: its span refers to one
// that follows.
func (t *Tracer) RecordJob(ended metrics.Job) {
	id := TraceID(ended.ID)
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: parentID(ended), TraceFlags: trace.FlagsSampled, Remote: true})
	ctx := context.Background()
	if parent.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, parent)
	}
	ctx, span := t.start(ctx, id, spanID(ended.ID, ended.Object.GetUID(), ""), ended.Kind, ended.AssignedAt)
	span.SetAttributes(
		attribute.String("landscaper.kind", ended.Kind), attribute.String("landscaper.result", ended.Result), attribute.String("landscaper.job", ended.ID),
		attribute.String("k8s.namespace.name", ended.Object.GetNamespace()), attribute.String("landscaper.name", ended.Object.GetName()),
	)
	if strings.HasSuffix(ended.Result, "failed") {
		span.SetStatus(codes.Error, "")
	}
	for _, stage := range stages(ended) {
		_, within := t.start(ctx, id, spanID(ended.ID, ended.Object.GetUID(), stage.name), stage.name, stage.from)
		within.End(trace.WithTimestamp(stage.to))
	}
	span.End(trace.WithTimestamp(ended.EndedAt))
}

// RecordRequest records a request to a target cluster that was made for a job.
func (t *Tracer) RecordRequest(ctx context.Context, request traffic.Request) {
	work, ok := job.WorkOf(ctx)
	if !ok || work.JobID == "" {
		return
	}
	id := TraceID(work.JobID)
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: spanID(work.JobID, work.UID, ""), TraceFlags: trace.FlagsSampled, Remote: true})
	var own trace.SpanID
	binary.BigEndian.PutUint64(own[:], rand.Uint64()|1) //nolint:gosec // zero is no ID; IDs are no secrets
	_, span := t.start(trace.ContextWithSpanContext(context.WithoutCancel(ctx), parent), id, own, "request", request.Began)
	span.SetAttributes(attribute.String("landscaper.job", work.JobID), attribute.String("landscaper.verb", request.Verb), attribute.String("landscaper.result", request.Result))
	if request.Result != "ok" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(request.Ended))
}

func (t *Tracer) start(ctx context.Context, id trace.TraceID, span trace.SpanID, name string, at time.Time) (context.Context, trace.Span) {
	ctx = context.WithValue(ctx, spanIDsKey{}, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
	return t.tracer.Start(ctx, name, trace.WithTimestamp(at)) // who calls ends it
}

// stage is a part of a job.
type stage struct {
	name     string
	from, to time.Time
}

// stages are those that were seen: in the queue, preparing the children, and waiting
// for them.
func stages(ended metrics.Job) []stage {
	if ended.StartedAt.IsZero() {
		return nil
	}
	all := []stage{{"queued", ended.AssignedAt, ended.StartedAt}}
	if ended.ChildrenWrittenAt.IsZero() {
		return append(all, stage{"working", ended.StartedAt, ended.EndedAt})
	}
	return append(all, stage{"preparing", ended.StartedAt, ended.ChildrenWrittenAt}, stage{"running", ended.ChildrenWrittenAt, ended.EndedAt})
}

// TraceID returns the ID of the trace of a job: for a UUID, its digits.
func TraceID(jobID string) trace.TraceID {
	digits, err := hex.DecodeString(strings.ReplaceAll(jobID, "-", ""))
	if id := (trace.TraceID{}); err == nil && len(digits) == len(id) {
		copy(id[:], digits)
		if id.IsValid() {
			return id
		}
	}
	sum := sha256.Sum256([]byte(jobID))
	return trace.TraceID(sum[:16])
}

// spanID returns the ID of the span of an object in a job, or of one of its stages.
func spanID(jobID string, uid types.UID, stage string) trace.SpanID {
	sum := sha256.Sum256([]byte(jobID + "/" + string(uid) + "/" + stage))
	return trace.SpanID(sum[:8])
}

// parentID returns the span of the owner of an object; invalid without one.
func parentID(ended metrics.Job) trace.SpanID {
	kind := "Installation"
	if ended.Kind == "DeployItem" {
		kind = "Execution"
	}
	owner, ok := job.OwnerOf(ended.Object, kind)
	if !ok {
		return trace.SpanID{}
	}
	return spanID(ended.ID, owner.UID, "")
}

// spanIDsKey is the key of the IDs that the next span gets.
type spanIDsKey struct{}

// ids gives spans the IDs that were worked out for them.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	span, _ := ctx.Value(spanIDsKey{}).(trace.SpanContext)
	return span.TraceID(), span.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	span, _ := ctx.Value(spanIDsKey{}).(trace.SpanContext)
	return span.SpanID()
}
