package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"go.landscaper.dev/internal/server/listen"
)

// health answers the liveness and the readiness probe. It names the reason and the kind; the texts
// are fixed, so that they hold nothing of an object.
type health struct {
	watches *watches
	// elected is closed when this replica is the leader; a replica that waits for that watches
	// nothing.
	elected <-chan struct{}
	// kinds are those that must be watched then.
	kinds []string
	// synced waits until all caches are filled, or the context ends.
	synced func(context.Context) bool
	// optional are the features that may lack kinds.
	optional []*optional
}

func (h *health) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	routes.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := h.ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	return routes
}

// ready is nil when every watch works.
//
// A replica that waits to be elected is ready when its own watches work: it can take over.
func (h *health) ready(ctx context.Context) error {
	troubles := h.watches.troubles()
	for _, feature := range h.optional {
		if trouble := feature.trouble(); trouble != "" {
			troubles = append(troubles, trouble)
		}
	}
	if len(troubles) > 0 {
		return errors.New("not ready:\n" + strings.Join(troubles, "\n"))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if !h.synced(ctx) {
		return errors.New("not ready: the caches are not filled yet")
	}
	select {
	case <-h.elected:
		// Watches start one by one; before the last one, the existing caches prove nothing.
		if missing := h.watches.missing(h.kinds); len(missing) > 0 {
			return fmt.Errorf("not ready: there is no watch for %s yet", strings.Join(missing, ", "))
		}
	default:
	}
	return nil
}

// addHealth serves health and readiness from the start, before anything is ready.
func addHealth(to manager.Manager, config Config, checks *health) error {
	return listen.Add(to, listen.Endpoint{Name: "health", Address: config.HealthAddress, Handler: checks.handler()})
}
