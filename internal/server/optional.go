package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-base/featuregate"
)

// servedCheck is how often a server whose cluster lacks a kind looks for it.
const servedCheck = 10 * time.Second

// features are those of a process whose kinds the cluster may lack.
type features struct {
	delivery *delivery
	fleets   *fleets
}

func newFeatures(config *Config) *features {
	return &features{delivery: newDelivery(config), fleets: newFleets(config)}
}

func (f *features) all() []*optional { return []*optional{&f.delivery.optional, &f.fleets.optional} }

// look finds out for each feature whether the cluster serves its kinds.
func (f *features) look(ctx context.Context, mapper meta.RESTMapper, retries wait.Backoff, log logr.Logger) error {
	for _, one := range f.all() {
		if err := one.look(ctx, mapper, retries, log); err != nil {
			return err // names the kind
		}
	}
	return nil
}

// optional is a feature of a process whose kinds the cluster may lack. The server works without them, and
// is not ready.
type optional struct {
	feature featuregate.Feature
	group   schema.GroupVersion
	kinds   []string
	on      bool
	// without is what does not happen where a kind is missing.
	without string

	// missing says that the cluster does not serve a kind, which is lacking then.
	missing atomic.Bool
	lacking string
	mapper  meta.RESTMapper
	log     logr.Logger
}

// counts reports whether the feature is on and has its kinds: nothing is watched otherwise.
func (o *optional) counts() bool { return o.on && !o.missing.Load() }

// look finds out whether the cluster serves the kinds.
func (o *optional) look(ctx context.Context, mapper meta.RESTMapper, retries wait.Backoff, log logr.Logger) error {
	if !o.on {
		return nil
	}
	o.mapper, o.log = mapper, log
	kind, err := o.await(ctx, &retries)
	if !errors.Is(err, errNotServed) {
		return err // names the kind
	}
	o.lacking = kind
	o.missing.Store(true)
	log.Error(err, o.trouble())
	return nil
}

// await waits until the cluster serves all kinds, and returns the one that it does not.
func (o *optional) await(ctx context.Context, retries *wait.Backoff) (string, error) {
	for _, kind := range o.kinds {
		if err := awaitServed(ctx, o.mapper, o.group.WithKind(kind), retries, o.log); err != nil {
			return kind, err // names the kind
		}
	}
	return "", nil
}

// trouble says why the server is not ready; "" if nothing is missing.
func (o *optional) trouble() string {
	if o == nil || !o.missing.Load() {
		return ""
	}
	return fmt.Sprintf("the feature %s is on, and the cluster does not serve kind %s, so that %s: run \"landscaper install --feature-gates=%[1]s=true\"", o.feature, o.lacking, o.without)
}

// Start implements manager.Runnable: it waits until the cluster serves the kinds.
func (o *optional) Start(ctx context.Context) error {
	ticker := time.NewTicker(servedCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if _, err := o.await(ctx, &wait.Backoff{}); err == nil {
			// A cache cannot be added to the controllers later.
			return fmt.Errorf("the cluster serves the kinds of %s now: the server starts again with them", o.group.Group)
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: each replica has caches of its own.
func (o *optional) NeedLeaderElection() bool { return false }
