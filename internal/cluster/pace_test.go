package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/cluster/watch"
)

// TestEventsWithoutEnd: a cluster that sends valid changes for ever, as fast as it can,
// is read no faster than others send them, also if it begins again, and holds nothing
// up that is to end.
func TestEventsWithoutEnd(t *testing.T) {
	const text = `{"type":"%s","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":"b","resourceVersion":"%d"}}}` + "\n"
	const atOnce = 50
	for reason, limit := range map[string]func(*traffic.Pace){
		"events": func(of *traffic.Pace) { of.Events = rate.NewLimiter(rate.Every(time.Hour), atOnce) },
		"bytes":  func(of *traffic.Pace) { of.Bytes = rate.NewLimiter(rate.Every(time.Hour), atOnce*len(text)) },
	} {
		t.Run(reason, func(t *testing.T) {
			stalled := make(chan struct{}, 100)
			connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				switch {
				case request.URL.Query().Has("sendInitialEvents"):
					write(out, http.StatusUnprocessableEntity, noStreaming)
					return
				case !request.URL.Query().Has("watch"):
					write(out, http.StatusOK, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
					return
				}
				out.Header().Set("Content-Type", "application/json")
				// More than what fits between the two.
				for i := 1; i < 100_000; i++ {
					_ = http.NewResponseController(out).SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
					if _, err := fmt.Fprintf(out, text, map[bool]string{true: "ADDED", false: "MODIFIED"}[i == 1], i); err != nil {
						break
					}
				}
				stalled <- struct{}{}
			})
			limit(connection.pace)
			var signalled atomic.Int64
			news, late := make(chan struct{}, 1000), time.After(5*time.Minute)
			// A second one: to begin again brings a cluster nothing.
			for range 2 {
				subscription := connection.Subscribe(configMaps, "a", "b", false, func() {
					signalled.Add(1)
					select {
					case news <- struct{}{}:
					default:
					}
				})
				<-stalled
				// What was sent may still be on its way.
				for signalled.Load() < atOnce/2 {
					select {
					case <-news:
					case <-late:
						t.Fatalf("called %d times by %d events", signalled.Load(), atOnce)
					}
				}
				_ = subscription.Close()
			}
			// The beginning of the watch, and its failures, wake as well.
			if count := signalled.Load(); count < atOnce/2 || count > atOnce+10 {
				t.Errorf("called %d times by %d events", count, atOnce)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := connection.pace.Keep(ctx, atOnce, atOnce*len(text)); !errors.Is(err, context.Canceled) {
				t.Errorf("a watch that ends does not wait: %v", err)
			}
		})
	}
}

// TestLongLists: neither pages that hold nothing nor pages that take their time hold a
// worker for ever.
func TestLongLists(t *testing.T) {
	for _, test := range []struct {
		reason  string
		step    time.Duration
		perPage int
		want    string
	}{
		{"empty pages", 0, 0, "more than 1000 pages"},
		{"many objects", 0, pageSize, "more than 20000 objects"},
		{"slow pages", 10 * time.Second, 1, "has not ended after 1m0s"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			moment := time.Now()
			count := 0
			_, err := pages(func() time.Time { moment = moment.Add(test.step); return moment }, func(metav1.ListOptions) ([]*unstructured.Unstructured, string, error) {
				count++
				return make([]*unstructured.Unstructured, test.perPage), "more", nil
			})
			if err == nil || !strings.Contains(err.Error(), test.want) || count > maxPages {
				t.Errorf("%v after %d pages", err, count)
			}
		})
	}
}

// TestFailuresOfWatches: what a cluster says in an event of a watch is put into our
// words, as its answers are, and the library does not log it.
func TestFailuresOfWatches(t *testing.T) {
	// No other test has it: watches of others may still log.
	const quoted = "what-the-watch-quotes"
	libraryLog.take()
	// The first failure is told before the library asks again, after a pause: all pause at
	// the same time.
	again, subscriptions := map[string]chan struct{}{}, map[string]*watch.Subscription{}
	for reason, event := range map[string]string{
		"a failure":         `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"` + quoted + `","details":{"causes":[{"field":"` + quoted + ` is it","message":"` + quoted + `"}]}}}`,
		"an unknown type":   `{"type":"` + quoted + `","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b"}}}`,
		"an object of none": `{"type":"ADDED","object":{"data":"` + quoted + `"}}`,
		"no event":          `{"type":["` + quoted + `"]}`,
	} {
		again[reason] = make(chan struct{}, 100)
		subscriptions[reason] = failing(t, event, again[reason])
	}
	for reason, subscription := range subscriptions {
		<-again[reason]
		if _, err := subscription.State(); err != nil && strings.Contains(err.Error(), quoted) {
			t.Errorf("%s: told: %v", reason, err)
		}
	}
	if logged := libraryLog.take(); strings.Contains(logged, quoted) {
		t.Errorf("logged: %s", logged)
	}
	said := apierrors.NewForbidden(configMaps.Resource.GroupResource(), quoted, errors.New(quoted))
	for _, err := range []error{said, errors.New(quoted)} {
		if jobError := clustererror.InOurWords(err, "configmaps"); strings.Contains(jobError.Error(), quoted) || apierrors.IsForbidden(jobError) != apierrors.IsForbidden(err) {
			t.Errorf("%v", jobError)
		}
	}
}

// failing is a watch whose server sends the same event each time and says when it is
// asked again.
func failing(t *testing.T, event string, again chan<- struct{}) *watch.Subscription {
	t.Helper()
	var asked atomic.Int64
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Query().Has("sendInitialEvents"):
			write(out, http.StatusUnprocessableEntity, noStreaming)
		case !request.URL.Query().Has("watch"):
			write(out, http.StatusOK, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
		default:
			if asked.Add(1) > 1 {
				again <- struct{}{}
			}
			write(out, http.StatusOK, event+"\n")
		}
	})
	subscription := connection.Subscribe(configMaps, "a", "b", false, func() {})
	t.Cleanup(func() { _ = subscription.Close() })
	return subscription
}
