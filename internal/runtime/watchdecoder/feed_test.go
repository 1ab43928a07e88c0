package watchdecoder

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"go.landscaper.dev/api/v1alpha1"
)

// source is a watch as caches open it, with a namespace that only it knows.
func source(t *testing.T, config *rest.Config) toolscache.ListerWatcherWithContext {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, v1alpha1.GroupVersion)
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &toolscache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.Watch = true
		return client.Get().Namespace("shop").Resource("installations").VersionedParams(&options, runtime.NewParameterCodec(scheme)).Watch(ctx)
	}}
}

// TestWatch asks a server that answers with an event which both ways of reading refuse, each
// in its own words: so it is seen who has read it.
func TestWatch(t *testing.T) {
	const ours, library, nothing = "decode event", "unable to decode an event from the watch stream: invalid", ""
	plain := func(config *rest.Config) *rest.Config { return config }
	tests := []struct {
		reason  string
		config  func(*rest.Config) *rest.Config
		media   string
		example runtime.Object
		want    string
	}{
		{"JSON, as our kinds have it", WithBodyCapture, "application/json", &v1alpha1.Installation{}, ours},
		{"a parameter of the media type", WithBodyCapture, "application/json;stream=watch", &v1alpha1.Installation{}, ours},
		{"wrapped twice, as by a server that starts again", func(c *rest.Config) *rest.Config { return WithBodyCapture(WithBodyCapture(c)) }, "application/json", &v1alpha1.Installation{}, ours},
		{"an encoding that only the library knows", WithBodyCapture, "application/vnd.kubernetes.protobuf;stream=watch", &v1alpha1.Installation{}, nothing},
		{"metadata alone, whose type is the same for all kinds", WithBodyCapture, "application/json", &metav1.PartialObjectMetadata{}, library},
		{"a client without the transport", plain, "application/json", &v1alpha1.Installation{}, library},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			asked := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.URL.String()
				w.Header().Set("Content-Type", test.media)
				_, _ = w.Write([]byte("{]\n"))
			}))
			defer server.Close()
			events, err := Watch(t.Context(), source(t, test.config(&rest.Config{Host: server.URL})), metav1.ListOptions{ResourceVersion: "7"}, test.example)
			if err != nil {
				t.Fatal(err)
			}
			defer events.Stop()
			got, sent := <-events.ResultChan()
			if test.want == nothing {
				if sent {
					t.Errorf("got %+v of a text without a length", got)
				}
				return
			}
			status, ok := got.Object.(*metav1.Status)
			if !ok || got.Type != watch.Error || !apierrors.HasStatusCause(apierrors.FromObject(status), UnreadableEvent) {
				t.Fatalf("got %+v", got)
			}
			if !strings.Contains(status.Message, test.want) {
				t.Errorf("got %q, want %q", status.Message, test.want)
			}
			if url := <-asked; url != "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/shop/installations?resourceVersion=7&watch=true" {
				t.Errorf("asked for %s", url)
			}
		})
	}
}

// TestWatchRefused: an error of the API server is the client's own.
func TestWatchRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`))
	}))
	defer server.Close()
	_, err := Watch(t.Context(), source(t, WithBodyCapture(&rest.Config{Host: server.URL})), metav1.ListOptions{}, &v1alpha1.Installation{})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v", err)
	}
}

// TestStop: stopping a watch ends its request, so that the API server sends no more events.
func TestStop(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(event(watch.Added, installation(t, "a")))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	}))
	defer server.Close()
	events, err := Watch(t.Context(), source(t, WithBodyCapture(&rest.Config{Host: server.URL})), metav1.ListOptions{}, &v1alpha1.Installation{})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-events.ResultChan(); got.Type != watch.Added || got.Object.(*v1alpha1.Installation).Name != "a" {
		t.Errorf("got %+v", got)
	}
	events.Stop()
	<-ended
	// The end of the request may still be reported as an error.
	for event := range events.ResultChan() {
		if event.Type != watch.Error {
			t.Errorf("another event: %+v", event)
		}
	}
}

// TestTimeLimit: a limit for requests ends them as soon as their answers are closed, and an
// answer that was claimed must not end with the one that the library has got for it.
func TestTimeLimit(t *testing.T) {
	more := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(event(watch.Added, installation(t, "a")))
		w.(http.Flusher).Flush()
		<-more
		_, _ = w.Write(event(watch.Added, installation(t, "b")))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	events, err := Watch(t.Context(), source(t, WithBodyCapture(&rest.Config{Host: server.URL, Timeout: time.Hour})), metav1.ListOptions{}, &v1alpha1.Installation{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	<-events.ResultChan()
	close(more)
	if got := <-events.ResultChan(); got.Type != watch.Added {
		t.Errorf("got %+v", got)
	}
}
