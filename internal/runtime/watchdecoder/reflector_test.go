package watchdecoder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"go.landscaper.dev/api/v1alpha1"
)

// answers are those of an API server, one after the other. The last one stays open.
type answers struct {
	all   []string
	asked []string
}

// RoundTrip implements http.RoundTripper.
func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	a.asked = append(a.asked, fmt.Sprintf("all=%s from=%s", query.Get("sendInitialEvents"), query.Get("resourceVersion")))
	var body io.Reader = strings.NewReader(a.all[0])
	if a.all = a.all[1:]; len(a.all) == 0 {
		open, end := io.Pipe()
		context.AfterFunc(request.Context(), func() { _ = end.CloseWithError(context.Canceled) })
		body, a.all = io.MultiReader(body, open), []string{""}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: request,
	}, nil
}

// version is an event with an Installation in a version of its own.
func version(t *testing.T, kind watch.EventType, name, number string) string {
	t.Helper()
	return string(event(kind, bytes.ReplaceAll(installation(t, name), []byte(`"42"`), []byte(`"`+number+`"`))))
}

// TestReflector: an informer gets on with what comes by the feed as with the library's own
// watches, whatever becomes of them.
func TestReflector(t *testing.T) {
	end := func(number string) string {
		return string(event(watch.Bookmark, []byte(`{"kind":"Installation","apiVersion":"landscaper.gardener.cloud/v1alpha1","metadata":{"resourceVersion":"`+number+`","annotations":{"k8s.io/initial-events-end":"true"}}}`)))
	}
	first := version(t, watch.Added, "a", "5") + end("10")
	expired := string(event(watch.Error, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)))
	tests := []struct {
		reason  string
		answers []string
		asked   []string
		known   string
	}{
		{"the connection ends within an event: the event comes again", []string{
			first + version(t, watch.Added, "b", "11") + version(t, watch.Added, "c", "12")[:200],
			version(t, watch.Added, "c", "12"),
		}, []string{"all=true from=", "all= from=11"}, "a b c"},
		{"a bookmark says from where to go on", []string{
			first + string(event(watch.Bookmark, []byte(`{"kind":"Installation","metadata":{"resourceVersion":"99"}}`))),
			version(t, watch.Deleted, "a", "100"),
		}, []string{"all=true from=", "all= from=99"}, ""},
		{"a version is too old: all objects come again, and deleted ones are dropped", []string{
			first + expired,
			version(t, watch.Added, "b", "20") + end("21"),
		}, []string{"all=true from=", "all=true from=10"}, "b"},
		{"the list is cut before its end: all objects come again, and none of the first part", []string{
			version(t, watch.Added, "half", "5"),
			first,
		}, []string{"all=true from=", "all=true from="}, "a"},
		{"an object cannot be read: the list comes again, and the object with it once it can be read", []string{
			first + `{"type":"ADDED","object":{"kind":"Installation","metadata":{"name":7}}}` + "\n",
			first + version(t, watch.Added, "b", "12"),
		}, []string{"all=true from=", "all=true from=10"}, "a b"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &answers{all: test.answers}
				config := WithBodyCapture(&rest.Config{Host: "http://server", Transport: server})
				from := source(t, config)
				informer := toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
					ListWithContextFunc: from.ListWithContext,
					WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
						return Watch(ctx, from, options, &v1alpha1.Installation{})
					},
				}, &v1alpha1.Installation{}, 0, toolscache.Indexers{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go informer.RunWithContext(ctx)
				// In a bubble, a minute passes when nothing else goes on: the pauses of the
				// informer are over, and the last answer is open.
				<-time.After(time.Minute)
				synctest.Wait()
				keys := informer.GetStore().ListKeys()
				slices.Sort(keys)
				if got := strings.ReplaceAll(strings.Join(keys, " "), "shop/", ""); got != test.known {
					t.Errorf("known are %q, want %q", got, test.known)
				}
				if !slices.Equal(server.asked, test.asked) {
					t.Errorf("it asks for %q, want %q", server.asked, test.asked)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}
