package tracing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/telemetry/metrics"
)

const jobID = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"

// moment is some seconds after the job was assigned.
func moment(seconds int) time.Time { return time.Unix(1_000_000+int64(seconds), 0) }

// owned returns what describes an object with an owner.
func owned(name string, kind, owner string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}
	if owner != "" {
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: owner, UID: types.UID("uid-" + owner)}}
	}
	return meta
}

// family are the jobs of a root with a subinstallation, in the order in which they end.
func family() []metrics.Job {
	return []metrics.Job{
		{ID: jobID, Kind: "DeployItem", Result: "failed", AssignedAt: moment(4), StartedAt: moment(5), EndedAt: moment(8), Object: &v1alpha1.DeployItem{
			ObjectMeta: owned("item", "Execution", "sub-exec"),
			Status:     v1alpha1.DeployItemStatus{LastError: &v1alpha1.Error{Message: "secret value"}},
		}},
		{ID: jobID, Kind: "Execution", Result: "failed", AssignedAt: moment(3), EndedAt: moment(9), Object: &v1alpha1.Execution{ObjectMeta: owned("sub-exec", "Installation", "sub")}},
		{ID: jobID, Kind: "Installation", Result: "failed", AssignedAt: moment(2), StartedAt: moment(2), ChildrenWrittenAt: moment(3), EndedAt: moment(10), Object: &v1alpha1.Installation{ObjectMeta: owned("sub", "Installation", "root")}},
		{ID: jobID, Kind: "Installation", Result: "succeeded", AssignedAt: moment(0), StartedAt: moment(1), ChildrenWrittenAt: moment(2), EndedAt: moment(11), Object: &v1alpha1.Installation{ObjectMeta: owned("root", "", "")}},
	}
}

// TestReport: all objects of a job are in one trace, each below its owner, with their
// stages, although each is recorded alone.
func TestReport(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdktrace.WithSyncer(exporter), "1.0")
	for _, ended := range family() {
		tracer.RecordJob(ended)
	}
	names := map[string]string{}
	var lines []string
	for _, span := range exporter.GetSpans() {
		label := span.Name
		for _, value := range span.Attributes {
			if value.Key == "landscaper.name" {
				label += " " + value.Value.AsString()
			}
			if strings.Contains(value.Value.String(), "secret") {
				t.Errorf("attribute %s has a value of a user", value.Key)
			}
		}
		if got := span.SpanContext.TraceID().String(); got != strings.ReplaceAll(jobID, "-", "") {
			t.Errorf("%s is in trace %s", label, got)
		}
		if span.Status.Description != "" {
			t.Errorf("the status of %s says %q", label, span.Status.Description)
		}
		names[span.SpanContext.SpanID().String()] = label
	}
	names["0000000000000000"] = "nothing"
	for _, span := range exporter.GetSpans() {
		from, to := int(span.StartTime.Sub(moment(0)).Seconds()), int(span.EndTime.Sub(moment(0)).Seconds())
		lines = append(lines, strings.Join([]string{names[span.SpanContext.SpanID().String()], "below", names[span.Parent.SpanID().String()], seconds(from, to), span.Status.Code.String()}, " "))
	}
	want := `queued below DeployItem item 4-5 Unset
working below DeployItem item 5-8 Unset
DeployItem item below Execution sub-exec 4-8 Error
Execution sub-exec below Installation sub 3-9 Error
queued below Installation sub 2-2 Unset
preparing below Installation sub 2-3 Unset
running below Installation sub 3-10 Unset
Installation sub below Installation root 2-10 Error
queued below Installation root 0-1 Unset
preparing below Installation root 1-2 Unset
running below Installation root 2-11 Unset
Installation root below nothing 0-11 Unset`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func seconds(from, to int) string { return fmt.Sprintf("%d-%d", from, to) }

func TestTraceID(t *testing.T) {
	tests := []struct {
		reason, job string
		digits      bool
	}{
		{"a UUID is its digits, so that a user finds the trace", jobID, true},
		{"a tool may name its jobs as it likes", "nightly", false},
		{"zero is not a valid trace ID", "00000000-0000-0000-0000-000000000000", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := TraceID(test.job)
			if !got.IsValid() || got != TraceID(test.job) {
				t.Errorf("got %s", got)
			}
			if same := got.String() == strings.ReplaceAll(test.job, "-", ""); same != test.digits {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestSent: what is left is sent when the process ends.
func TestSent(t *testing.T) {
	asked := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { asked <- request.URL.Path }))
	defer collector.Close()
	tracer, err := New(t.Context(), collector.URL, "1.0", logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	tracer.RecordJob(family()[0])
	if err := tracer.provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if path := <-asked; path != "/v1/traces" {
		t.Errorf("sent to %s", path)
	}
}

// TestRequest: a request for a job is below the object that it was made for, and tells
// nothing of where it went.
func TestRequest(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdktrace.WithSyncer(exporter), "1.0")
	item := family()[0]
	ctx := job.WithWork(t.Context(), job.Work{JobID: jobID, UID: item.Object.GetUID()})
	for _, result := range []string{"ok", "conflict"} {
		tracer.RecordRequest(ctx, traffic.Request{Verb: "patch", Result: result, Began: moment(5), Ended: moment(6)})
	}
	tracer.RecordRequest(t.Context(), traffic.Request{Verb: "watch", Result: "ok", Began: moment(5), Ended: moment(6)})
	spans := exporter.GetSpans()
	if len(spans) != 2 {
		t.Fatalf("%d spans: a request for no job belongs to no trace", len(spans))
	}
	for i, span := range spans {
		if span.SpanContext.TraceID() != TraceID(jobID) || span.Parent.SpanID() != spanID(jobID, item.Object.GetUID(), "") {
			t.Errorf("%+v is below %+v", span.SpanContext, span.Parent)
		}
		if want := []codes.Code{codes.Unset, codes.Error}[i]; span.Status.Code != want || span.Name != "request" || !span.StartTime.Equal(moment(5)) || len(span.Attributes) != 3 {
			t.Errorf("%s %s from %s: %v", span.Name, span.Status.Code, span.StartTime, span.Attributes)
		}
	}
	if spans[0].SpanContext.SpanID() == spans[1].SpanContext.SpanID() {
		t.Error("two requests are one")
	}
}
