// Package webhook takes notifications that there is something new for a Channel. A valid one lets the next
// poll be made now, and nothing else: what is in it is not believed.
package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/server/listen"
)

const (
	// Path is where notifications for a Channel are sent.
	Path = "/channels/{namespace}/{name}"
	// maxBody is how large a notification is.
	maxBody = 1 << 20
	// maxReading is how many bodies are read at the same time.
	maxReading = 32
	// refusal is how long a refusal takes at least: whether a Channel exists, and has a Secret, makes less
	// of a difference than that.
	refusal = 100 * time.Millisecond
)

// Results of notifications.
const (
	resultAccepted = "accepted"
	resultRefused  = "refused"
	resultLimited  = "limited"
)

var notified = newNotified()

func newNotified() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "landscaper_channel_notifications_total", Help: "Notifications for Channels.",
	}, []string{"result"})
	// A result that never happened is 0, not absent: an alert needs an earlier value.
	for _, result := range []string{resultAccepted, resultRefused, resultLimited} {
		counts.WithLabelValues(result)
	}
	return counts
}

// Receiver takes notifications.
type Receiver struct {
	// Channels reads Channels, from a cache: a request of a stranger does not become one to the API server.
	Channels client.Reader
	// Secrets reads Secrets, from the API server.
	Secrets client.Reader
	// Poll lets a Channel be polled now.
	Poll func(context.Context, types.NamespacedName) error
	// Now is the clock.
	Now func() time.Time
	Log logr.Logger

	limits  limits
	secrets secrets
	reading chan struct{}
	collect *collector
	// unknown is compared with where there is no secret: that takes as long.
	unknown []byte
}

// Handler returns what serves the notifications as long as the context lives.
func (r *Receiver) Handler(ctx context.Context) http.Handler {
	r.reading, r.unknown = make(chan struct{}, maxReading), make([]byte, 32)
	_, _ = rand.Read(r.unknown) // it never fails
	r.collect = newCollector(ctx, r.Now, func(key types.NamespacedName) {
		if err := r.Poll(ctx, key); err != nil {
			r.Log.Info("a notification had no effect", "channel", key.String(), "reason", err.Error())
		}
	})
	routes := http.NewServeMux()
	routes.HandleFunc("POST "+Path, r.serve)
	return routes
}

// Metrics are those of this package.
func (*Receiver) Metrics() []prometheus.Collector { return []prometheus.Collector{notified} }

func (r *Receiver) serve(w http.ResponseWriter, request *http.Request) {
	if !r.limits.allow(listen.Client(request), r.Now()) {
		busy(w)
		return
	}
	body, status := r.read(w, request)
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	began := time.Now()
	key := types.NamespacedName{Namespace: request.PathValue("namespace"), Name: request.PathValue("name")}
	hook, secret := r.hookOf(request.Context(), key)
	if agrees := valid(hook.webhook, request.Header, body, secret); !agrees || !hook.exists {
		notified.WithLabelValues(resultRefused).Inc()
		refuse(w, request, began)
		return
	}
	listen.Trust(request)
	notified.WithLabelValues(resultAccepted).Inc()
	if hook.concerns(body) {
		r.collect.add(key)
	}
	w.WriteHeader(http.StatusAccepted)
}

// read reads a body, of which a few are in memory at the same time. The server ends slow clients.
func (r *Receiver) read(w http.ResponseWriter, request *http.Request) (body []byte, status int) {
	if request.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge
	}
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
	default:
		notified.WithLabelValues(resultLimited).Inc()
		return nil, http.StatusServiceUnavailable
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// hook is the webhook of a Channel that may not exist.
type hook struct {
	exists    bool
	webhook   fleetv1alpha1.WebhookType
	component string
}

// hookOf returns the webhook of a Channel with its secret. Without one, it returns what nothing agrees
// with.
func (r *Receiver) hookOf(ctx context.Context, key types.NamespacedName) (hook, []byte) {
	ch := &fleetv1alpha1.Channel{}
	if err := r.Channels.Get(ctx, key, ch); err != nil || ch.Spec.Webhook == nil || ch.DeletionTimestamp != nil {
		return hook{}, r.unknown
	}
	ref := ch.Spec.Webhook.SecretRef
	secret, err := r.secrets.of(ctx, r.Secrets, types.NamespacedName{Namespace: key.Namespace, Name: ref.Name}, ref.Key, r.Now())
	if err != nil {
		r.Log.Info("notifications are refused", "channel", key.String(), "reason", err.Error())
		return hook{}, r.unknown
	}
	return hook{exists: true, webhook: ch.Spec.Webhook.Type, component: ch.Spec.Component}, secret
}

// refuse answers the same to every notification that is not valid, and not before a time.
func refuse(w http.ResponseWriter, request *http.Request, began time.Time) {
	timer := time.NewTimer(refusal - time.Since(began))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-request.Context().Done():
	}
	http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
}

func busy(w http.ResponseWriter) {
	notified.WithLabelValues(resultLimited).Inc()
	w.Header().Set("Retry-After", "1")
	http.Error(w, http.StatusText(http.StatusTooManyRequests), http.StatusTooManyRequests)
}
