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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestEventsWithoutEnd: a cluster that sends valid changes for ever, as fast as it can,
// is read no faster than others send them, also if it begins again, and holds nothing
// up that is to end.
func TestEventsWithoutEnd(t *testing.T) {
	const text = `{"type":"%s","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":"b","resourceVersion":"%d"}}}` + "\n"
	const atOnce = 50
	for reason, limited := range map[string]*pace{
		"events": {events: rate.NewLimiter(rate.Every(time.Hour), atOnce), bytes: rate.NewLimiter(watchedPerSecond, watchedAtOnce)},
		"bytes":  {events: rate.NewLimiter(eventsPerSecond, eventsAtOnce), bytes: rate.NewLimiter(rate.Every(time.Hour), atOnce*len(text))},
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
			*connection.pace = *limited
			var woken atomic.Int64
			// A second one: to begin again brings a cluster nothing.
			for range 2 {
				subscription := connection.Subscribe(configMaps, "a", "b", false, func() { woken.Add(1) })
				<-stalled
				_ = subscription.Close()
			}
			// The beginning of the watch, and its failures, wake as well.
			if count := woken.Load(); count < atOnce/2 || count > atOnce+10 {
				t.Errorf("woken %d times by %d events", count, atOnce)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := connection.pace.keep(ctx, atOnce, atOnce*len(text)); !errors.Is(err, context.Canceled) {
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
		moment := time.Now()
		count := 0
		_, err := pages(func() time.Time { moment = moment.Add(test.step); return moment }, func(metav1.ListOptions) ([]*unstructured.Unstructured, string, error) {
			count++
			return make([]*unstructured.Unstructured, test.perPage), "more", nil
		})
		if err == nil || !strings.Contains(err.Error(), test.want) || count > maxPages {
			t.Errorf("%s: %v after %d pages", test.reason, err, count)
		}
	}
}
