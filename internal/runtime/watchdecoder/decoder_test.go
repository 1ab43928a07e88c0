package watchdecoder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"

	"go.landscaper.dev/api/v1alpha1"
)

// canary must not be in any message: it stands for a value of an object.
const canary = "canary-value"

// installation is one at rest, with what the API server adds.
func installation(t testing.TB, name string) []byte {
	t.Helper()
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	object := &v1alpha1.Installation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", ResourceVersion: "42", CreationTimestamp: at,
			Annotations:   map[string]string{"note": "a line\nand a line that ends with }"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "landscaper", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:phase":{}}}`)}},
		},
		Spec: v1alpha1.InstallationSpec{Context: "default", Blueprint: v1alpha1.BlueprintDefinition{
			Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON([]byte(`{"blueprint.yaml":"<&>","large":12345678901234567890}`))},
		}},
		Status: v1alpha1.InstallationStatus{
			InstallationPhase: v1alpha1.InstallationPhases.Succeeded, PhaseTransitionTime: &at,
			Conditions:      []v1alpha1.Condition{{Type: "Ready", Status: v1alpha1.ConditionTrue, LastTransitionTime: at, LastUpdateTime: at}},
			TransitionTimes: &v1alpha1.TransitionTimes{TriggerTime: &at, FinishedTime: &at},
			History:         []v1alpha1.JobRecord{{JobID: "a", Start: &at}},
		},
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// event is how the API server writes one.
func event(kind watch.EventType, object []byte) []byte {
	return append(append([]byte(`{"type":"`+string(kind)+`","object":`), object...), '}', '\n')
}

// library decodes as the client library does.
func library(t testing.TB, stream io.ReadCloser) watch.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, v1alpha1.GroupVersion)
	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{})
	events := streaming.NewDecoder(kjson.Framer.NewFrameReader(stream), serializer)
	return restwatch.NewDecoder(events, runtime.WithoutVersionDecoder{Decoder: serializer})
}

// TestAsTheLibrary: what is read is what the client library reads, however the bytes come.
func TestAsTheLibrary(t *testing.T) {
	bookmark := []byte(`{"kind":"Installation","apiVersion":"landscaper.gardener.cloud/v1alpha1","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"context":""},"status":{}}`)
	tests := []struct {
		reason string
		events [][]byte
	}{
		{"one of each type", [][]byte{
			event(watch.Added, installation(t, "a")), event(watch.Modified, installation(t, "a")), event(watch.Deleted, installation(t, "a")),
		}},
		{"the end of the list, which comes as a bookmark", [][]byte{event(watch.Bookmark, bookmark)}},
		{"an object that is larger than the buffer", [][]byte{event(watch.Added, installation(t, strings.Repeat("a", 100<<10)))}},
		{"a large object, then small ones: nothing of the line before is seen", [][]byte{
			event(watch.Added, installation(t, strings.Repeat("a", 1000))), event(watch.Added, installation(t, "b")), event(watch.Bookmark, bookmark),
		}},
		{"a version that is too old is an error event", [][]byte{
			event(watch.Error, []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}`)),
		}},
		{"an error behind an object", [][]byte{
			event(watch.Added, installation(t, "a")), event(watch.Error, []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}`)),
		}},
		{"a time that cannot be read does not end the watch", [][]byte{
			event(watch.Added, bytes.ReplaceAll(installation(t, "a"), []byte("2026-01-02T03:04:05Z\",\"lastUpdateTime"), []byte("2020-01-01t00:00:00z\",\"lastUpdateTime"))),
		}},
		{"fields of another version", [][]byte{
			event(watch.Added, []byte(`{"kind":"Installation","apiVersion":"landscaper.gardener.cloud/v1alpha1","metadata":{"name":"a"},"spec":{"future":[1]},"future":{}}`)),
		}},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"at once":      func(r io.Reader) io.Reader { return r },
		"half by half": iotest.HalfReader,
		"by bytes":     iotest.OneByteReader,
	}
	for _, test := range tests {
		for how, reader := range readers {
			t.Run(test.reason+"/"+how, func(t *testing.T) {
				stream := bytes.Join(test.events, nil)
				theirs := library(t, io.NopCloser(bytes.NewReader(stream)))
				ours := newDecoder(io.NopCloser(reader(bytes.NewReader(stream))), &v1alpha1.Installation{})
				var read []runtime.Object
				for range test.events {
					wantType, want, err := theirs.Decode()
					if err != nil {
						t.Fatal(err)
					}
					gotType, got, err := ours.Decode()
					if status, failed := got.(*metav1.Status); failed {
						// Who reads it asks for a code and a reason alone.
						status.TypeMeta = want.(*metav1.Status).TypeMeta
					}
					if err != nil || gotType != wantType || !reflect.DeepEqual(got, want) {
						t.Errorf("got %s %+v (%v)\nwant %s %+v", gotType, got, err, wantType, want)
					}
					read = append(read, got, got.DeepCopyObject())
				}
				for i := 0; i < len(read); i += 2 {
					if !reflect.DeepEqual(read[i], read[i+1]) {
						t.Errorf("what came later has changed %+v to %+v", read[i+1], read[i])
					}
				}
				if _, _, err := ours.Decode(); !errors.Is(err, io.EOF) {
					t.Errorf("at the end: %v", err)
				}
			})
		}
	}
}

// TestUnreadable: an unreadable event ends the watch, with an error that repeats nothing of it.
func TestUnreadable(t *testing.T) {
	tests := []struct {
		reason, stream, want string
	}{
		{"a connection that ends within an event", `{"type":"ADDED","object":{"metadata":{"name":"` + canary, "unexpected EOF"},
		{"an event that is cut, and a line", `{"type":"ADDED","object":{` + "\n", "decode event: unexpected end of JSON input"},
		{"no JSON", canary + "\n", "decode event: invalid character"},
		{"an empty line", "\n", "decode event: unexpected end of JSON input"},
		{"an unknown type", `{"type":"` + canary + `","object":{}}` + "\n", "decode event: unknown type"},
		{"no type", `{"object":{}}` + "\n", "decode event: unknown type"},
		{"no object", `{"type":"ADDED"}` + "\n", "decode event: it has no object of kind Installation"},
		{"null for an object", `{"type":"ADDED","object":null}` + "\n", "decode event: it has no object of kind Installation"},
		{"an object of another kind", `{"type":"ADDED","object":{"kind":"Secret","metadata":{"name":"a"}}}` + "\n", "decode event: it has no object of kind Installation"},
		{"an error event without a Status", `{"type":"ERROR","object":[]}` + "\n", "decode error event"},
		{"an event without an end", `{"type":"ADDED","object":"` + strings.Repeat("a", largestEvent), "more than 16777216 bytes"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, object, err := newDecoder(io.NopCloser(strings.NewReader(test.stream)), &v1alpha1.Installation{}).Decode()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v (%v), want %q", object, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("%v repeats what came", err)
			}
		})
	}
}

// TestOnePass compares the work for an event with that of the client library.
func TestOnePass(t *testing.T) {
	stream := bytes.Repeat(event(watch.Modified, installation(t, "a")), 100)
	allocations := func(decoder watch.Decoder) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, _, err := decoder.Decode(); err != nil {
				t.Fatal(err)
			}
		})
	}
	ours := allocations(newDecoder(io.NopCloser(endless(stream)), &v1alpha1.Installation{}))
	theirs := allocations(library(t, io.NopCloser(endless(stream))))
	if ours > theirs*4/5 {
		t.Errorf("an event takes %.0f allocations, and %.0f with the client library", ours, theirs)
	}
}

// endless repeats a text.
func endless(text []byte) io.Reader { return &repeated{text: text} }

type repeated struct {
	text []byte
	at   int
}

func (r *repeated) Read(into []byte) (int, error) {
	n := copy(into, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func BenchmarkEvents(b *testing.B) {
	stream := bytes.Repeat(event(watch.Modified, installation(b, "a")), 100)
	decoders := map[string]watch.Decoder{
		"ours":    newDecoder(io.NopCloser(endless(stream)), &v1alpha1.Installation{}),
		"library": library(b, io.NopCloser(endless(stream))),
	}
	for name, decoder := range decoders {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := decoder.Decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
