package targetsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/readthrough"
)

// pageSize is how many Secrets with our label one answer holds.
const pageSize = 500

// errSeveral is upstream's text.
var errSeveral = errors.New("more than one TargetSync object in the same namespace is not allowed")

// errBoth is upstream's text.
var errBoth = errors.New("a targetsync object with both, secretNameExpression and shootNameExpression, is not allowed")

// outcome is the result of a run.
type outcome struct {
	// reason and err are of the failure that has ended the run early.
	reason reasons.Reason
	err    error
	// unreachable says that the failure is one to reach or to list the source.
	unreachable bool
	// several says that nothing was tried, because of another TargetSync in the namespace.
	several bool
	// listed says that the source was listed, asked that this was tried.
	listed, asked bool
	// items are the shoots and Secrets that failed or wait.
	items                   []v1alpha1.TargetSyncItem
	synced, failed, skipped int
	// removal are failures to remove what is no longer wanted.
	removal          []string
	created, removed []string
	held             []string
	suspects         map[string]time.Time
	// wake is when credentials, or the token of the source, must be renewed at the latest.
	wake time.Time
	// rotated is when the token of the source was last renewed, rotatedNow that it was by
	// this run.
	rotated     time.Time
	rotatedNow  bool
	rotationErr error
	// wrote says that the run has changed something.
	wrote bool
}

// ok reports whether the run succeeded altogether.
func (o *outcome) ok() bool {
	return o.err == nil && o.failed == 0 && len(o.removal) == 0 && len(o.held) == 0 && o.rotationErr == nil
}

func (o *outcome) ended(reason reasons.Reason, err error) *outcome {
	o.reason, o.err = reason, err
	return o
}

// unreached ends a run that could not reach or list its source.
func (o *outcome) unreached(reason reasons.Reason, err error) *outcome {
	o.unreachable = true
	return o.ended(reason, err)
}

// run is one synchronisation.
type run struct {
	*Reconciler
	sync   *v1alpha1.TargetSync
	memory *memory
	access access
	source *cluster.Connection
	gate   *gate
}

// do synchronises once.
func (r *run) do(ctx context.Context) *outcome {
	o := &outcome{suspects: r.memory.suspects}
	selects, err := r.expression()
	if err != nil {
		return o.ended(reasons.InvalidSpec, err)
	}
	if err := r.connect(ctx); err != nil {
		return o.unreached(reasons.NoAccessToSource, err)
	}
	r.rotate(ctx, o)
	w := syncplan.World{Sync: r.sync, Suspects: r.memory.suspects, Now: r.Now()}
	if r.sync.Spec.SecretNameExpression == "" {
		r.unwatch()
	}
	if selects != nil {
		o.asked = true
		if err := r.list(ctx, &w, selects); err != nil {
			return o.unreached(reasons.SourceNotListed, err)
		}
		o.listed = true
	}
	if err := r.observe(ctx, &w); err != nil {
		return o.ended(reasons.ResourceClusterFailed, err)
	}
	p := syncplan.New(w)
	o.suspects, o.held = p.Suspects, p.Held
	r.carryOut(ctx, w, p, o)
	r.remove(ctx, w, p.Remove, o)
	// Writes since the last read count as well.
	w.Secrets = r.memory.ownSecrets()
	o.wake = syncplan.Earliest(o.wake, w.Wake())
	return o
}

// expression returns what selects names, nil if nothing is selected.
func (r *run) expression() (func(string) bool, error) {
	spec := r.sync.Spec
	switch {
	case spec.SecretNameExpression != "" && spec.ShootNameExpression != "":
		return nil, errBoth
	case spec.SecretNameExpression == "" && spec.ShootNameExpression == "":
		return nil, nil
	}
	return syncplan.Names(spec.SecretNameExpression + spec.ShootNameExpression)
}

// connect reads the access to the source.
func (r *run) connect(ctx context.Context) error {
	at := client.ObjectKey{Namespace: r.sync.Namespace, Name: r.sync.Spec.SecretRef.Name}
	found := &corev1.Secret{}
	if err := r.Reader.Get(ctx, at, found); err != nil {
		return fmt.Errorf("read Secret %s with the access to the source (spec.secretRef): %w", at, err)
	}
	kubeconfig := found.Data[syncplan.AccessKey(r.sync)]
	r.keep(access{version: found.ResourceVersion, kubeconfig: kubeconfig, rotated: r.rotated(found), secret: found})
	if len(kubeconfig) == 0 {
		return fmt.Errorf("no kubeconfig in secret: Secret %s has no key %s, or it is empty: put the kubeconfig of the source there, or name its key in spec.secretRef.key", at, syncplan.AccessKey(r.sync))
	}
	var err error
	if r.source, err = r.Pool.ConnectKubeconfig(kubeconfig); err != nil {
		return fmt.Errorf("the kubeconfig in key %s of Secret %s cannot be used: %w", syncplan.AccessKey(r.sync), at, err)
	}
	return nil
}

// keep records the access, so that a change of the Secret by another client is noticed.
func (r *run) keep(found access) {
	r.access = found
	r.memory.mutex.Lock()
	defer r.memory.mutex.Unlock()
	r.memory.access = access{version: found.version}
}

// list reads the source.
func (r *run) list(ctx context.Context, w *syncplan.World, selects func(string) bool) error {
	namespace := r.sync.Spec.SourceNamespace
	kind, resource := syncplan.ShootKind, syncplan.ShootResource
	read := func(object *unstructured.Unstructured) (syncplan.Item, error) {
		return syncplan.ReadShoot(object, selects), nil
	}
	held := &syncplan.Copies{Selects: selects}
	if r.sync.Spec.SecretNameExpression != "" {
		kind, resource, read = syncplan.SecretKind, syncplan.SecretResource, held.Read
	}
	listing, err := cluster.ListReduced(ctx, r.source, kind, resource, namespace, read)
	if held.TooMuch() {
		err = syncplan.ErrTooMuch
	}
	if err != nil {
		r.unwatch()
		return fmt.Errorf("list %s in namespace %s of the source; nothing is removed: %w", resource.Resource, namespace, err)
	}
	w.Items, w.Listed = listing.Objects, true
	slices.SortFunc(w.Items, func(a, b syncplan.Item) int { return strings.Compare(a.Name, b.Name) })
	if kind == syncplan.SecretKind {
		r.watch(w, listing.Version)
	}
	return nil
}

// watch lets changes of Secrets in the source trigger a run, from the listed version on.
func (r *run) watch(w *syncplan.World, version string) {
	listed := map[string]string{}
	for i := range w.Items {
		if w.Items[i].Selected {
			listed[w.Items[i].Name] = w.Items[i].Version
		}
	}
	m, namespace := r.memory, r.sync.Spec.SourceNamespace
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.watch != nil && (m.watch.connection != r.source || m.watch.namespace != namespace) {
		m.watch.close()
		m.watch = nil
	}
	if m.watch == nil {
		if m.ended || r.Now().Before(m.watchAgain) {
			// The TargetSync may have been deleted while the source was listed.
			return
		}
		key := client.ObjectKeyFromObject(r.sync)
		m.watch = &sourceWatch{
			connection: r.source, namespace: namespace,
			subscription: r.source.SubscribeNamespace(syncplan.SecretResource, namespace, func() { r.wake(key) }),
		}
	}
	m.watch.listed, m.watch.at = listed, version
}

func (r *run) unwatch() {
	r.memory.mutex.Lock()
	defer r.memory.mutex.Unlock()
	r.memory.watch.close()
	r.memory.watch = nil
}

// observe reads what is in the namespace. Secrets in the memory are not read again.
func (r *run) observe(ctx context.Context, w *syncplan.World) error {
	targets := &v1alpha1.TargetList{}
	if err := r.Client.List(ctx, targets, client.InNamespace(r.sync.Namespace), readthrough.AsCached); err != nil {
		return fmt.Errorf("list Targets: %w", err)
	}
	w.Targets = map[string]*v1alpha1.Target{}
	versions := map[string]string{}
	for i := range targets.Items {
		target := &targets.Items[i]
		w.Targets[target.Name] = target
		if syncplan.Ours(target) {
			// Of the Targets of others only the names count.
			if readthrough.Omitted(target) {
				if err := r.Client.Get(ctx, client.ObjectKeyFromObject(target), target); err != nil {
					return fmt.Errorf("read Target %s: %w", target.Name, err)
				}
			}
			versions[target.Name] = target.ResourceVersion
		}
	}
	cached := &metav1.PartialObjectMetadataList{}
	cached.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := r.metadata.List(ctx, cached, client.InNamespace(r.sync.Namespace)); err != nil {
		return fmt.Errorf("list the metadata of Secrets: %w", err)
	}
	known, err := r.ownSecrets(ctx, cached)
	if err != nil {
		return err
	}
	w.Secrets = known
	for i := range cached.Items {
		if found := &cached.Items[i]; !syncplan.Ours(found) {
			w.Secrets[found.Name] = syncplan.Secret{Version: found.ResourceVersion}
		}
	}
	r.memory.mutex.Lock()
	defer r.memory.mutex.Unlock()
	r.memory.targets = versions
	return nil
}

// ownSecrets returns those that have our label, from memory if that is up to date.
func (r *run) ownSecrets(ctx context.Context, cached *metav1.PartialObjectMetadataList) (map[string]syncplan.Secret, error) {
	if known, complete := r.memory.knows(cached); complete {
		return known, nil
	}
	known := map[string]syncplan.Secret{}
	page := client.ListOptions{Namespace: r.sync.Namespace, Limit: pageSize}
	client.MatchingLabels{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}.ApplyToList(&page)
	for {
		list := &corev1.SecretList{}
		if err := r.Reader.List(ctx, list, &page); err != nil {
			return nil, fmt.Errorf("list the Secrets of Targets: %w", err)
		}
		for i := range list.Items {
			known[list.Items[i].Name] = syncplan.FactsOf(&list.Items[i])
		}
		if page.Continue = list.Continue; page.Continue == "" {
			break
		}
	}
	r.memory.mutex.Lock()
	defer r.memory.mutex.Unlock()
	r.memory.secrets, r.memory.read = maps.Clone(known), true
	return known, nil
}
