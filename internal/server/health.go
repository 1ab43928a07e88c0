package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// health answers whether the process lives and whether it works. It says why not, and
// of which kind; the words are ours, so that they hold nothing of an object.
type health struct {
	watches *watches
	// elected is closed when this replica works; one that waits for that watches nothing.
	elected <-chan struct{}
	// kinds are those that must be watched then.
	kinds []string
	// synced says that all caches are filled, or waits until the context ends.
	synced func(context.Context) bool
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
// A replica that waits to be elected is ready when nothing is wrong: as far as it works, it
// is good for taking over.
func (h *health) ready(ctx context.Context) error {
	if troubles := h.watches.troubles(); len(troubles) > 0 {
		return errors.New("not ready:\n" + strings.Join(troubles, "\n"))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if !h.synced(ctx) {
		return errors.New("not ready: the caches are not filled yet")
	}
	select {
	case <-h.elected:
		// Watches begin one by one; until the last has, the caches that there are prove
		// nothing.
		if missing := h.watches.missing(h.kinds); len(missing) > 0 {
			return fmt.Errorf("not ready: nobody watches %s yet", strings.Join(missing, ", "))
		}
	default:
	}
	return nil
}

// addHealth serves health and readiness from the start on, when nothing is ready yet.
func addHealth(to manager.Manager, config Config, checks *health) error {
	address := config.HealthAddress
	if address == "0" || address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serve health at %s: %w", address, err)
	}
	limit := 10 * time.Second
	return to.Add(&manager.Server{
		Name: "health", Listener: listener, ShutdownTimeout: &limit,
		Server: &http.Server{Handler: checks.handler(), ReadHeaderTimeout: limit, ReadTimeout: limit, WriteTimeout: limit},
	})
}
