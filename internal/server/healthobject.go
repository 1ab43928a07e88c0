package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"go.landscaper.dev/api/v1alpha1"
)

const (
	// healthPause is the time between two checks of the process, which make no request.
	healthPause = 10 * time.Second
	// healthLife is the time between two writes of the health object.
	healthLife = time.Minute
)

// healthObject reports the health of this process in an LsHealthCheck, for clients that watch
// objects and no endpoints. Its time is renewed, since a process that has ended cannot report.
type healthObject struct {
	// client writes, reader reads from the API server: one object needs no cache.
	client client.Client
	reader client.Reader
	key    client.ObjectKey
	// check returns nil when the process is healthy.
	check func(context.Context) error
	now   func() time.Time

	// last is the last written object, written its time.
	last      *v1alpha1.LsHealthCheck
	written   time.Time
	failures  int
	described string
}

// addHealthObject lets the leader report its health, if that is configured.
func addHealthObject(to ctrl.Manager, config Config, check func(context.Context) error) error {
	if config.HealthCheck.Name == "" {
		return nil
	}
	h := &healthObject{client: to.GetClient(), reader: to.GetAPIReader(), key: config.HealthCheck, check: check, now: time.Now}
	if err := to.Add(manager.RunnableFunc(h.run)); err != nil {
		return fmt.Errorf("write LsHealthCheck %s: %w", h.key, err)
	}
	return nil
}

func (h *healthObject) run(ctx context.Context) error {
	ticker := time.NewTicker(healthPause)
	defer ticker.Stop()
	for {
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "the health object could not be written", "object", h.key)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// look runs the check, and writes the result if the last write is long enough ago.
func (h *healthObject) look(ctx context.Context) error {
	status, known := h.judge(h.check(ctx))
	if !known || !h.written.IsZero() && h.now().Sub(h.written) < healthLife {
		return nil
	}
	if err := h.write(ctx, status); err != nil {
		h.last = nil
		return err
	}
	h.written = h.now()
	return nil
}

// judge returns the status for the result of a check. A single failure says nothing: a watch that
// has ended is usually open again right after.
func (h *healthObject) judge(problem error) (status v1alpha1.LsHealthCheckStatus, known bool) {
	if problem == nil {
		h.failures, h.described = 0, "ok"
		return v1alpha1.LsHealthCheckStatusOk, true
	}
	h.failures++
	if h.failures == 1 {
		return v1alpha1.LsHealthCheckStatusOk, h.described != ""
	}
	h.described = strings.ReplaceAll(problem.Error(), "\n", " ")
	return v1alpha1.LsHealthCheckStatusFailed, true
}

func (h *healthObject) write(ctx context.Context, status v1alpha1.LsHealthCheckStatus) error {
	object := h.last
	if object == nil {
		object = &v1alpha1.LsHealthCheck{}
		err := h.reader.Get(ctx, h.key, object)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read LsHealthCheck %s: %w", h.key, err)
		}
		if apierrors.IsNotFound(err) {
			object = &v1alpha1.LsHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: h.key.Namespace, Name: h.key.Name}}
		}
	}
	object.Status, object.Description, object.LastUpdateTime = status, h.described, metav1.NewTime(h.now())
	write := func() error { return h.client.Update(ctx, object) }
	if object.ResourceVersion == "" {
		write = func() error { return h.client.Create(ctx, object) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("write LsHealthCheck %s: %w", h.key, err)
	}
	h.last = object
	return nil
}
